'use strict'

// Loads the copies of the package whose folders are the arguments, in that order, and prints JSON: an ID count of
// each, and the warnings.

delete process.env.NAPI_RS_NATIVE_LIBRARY_PATH // each copy loads its own addon

const warnings = []
process.on('warning', ({ code, message }) => warnings.push({ code, message }))

const ids = process.argv.slice(2).map((folder) => new (require(folder))().take(10).length / 8)

setImmediate(() => console.log(JSON.stringify({ ids, warnings }))) // warnings come on the next tick
