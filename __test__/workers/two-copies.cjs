'use strict'

// Loads the copies of the package whose folders are the arguments, in that order, and prints JSON: an ID count of
// each, how many classes there are, and the warnings.

delete process.env.NAPI_RS_NATIVE_LIBRARY_PATH // each copy loads its own addon

const warnings = []
process.on('warning', ({ code, message }) => warnings.push({ code, message }))

const copies = process.argv.slice(2).map((folder) => require(folder))
const ids = copies.map((FlakeId) => new FlakeId().take(10).length / 8)
const classes = new Set(copies).size

setImmediate(() => console.log(JSON.stringify({ ids, classes, warnings }))) // warnings come on the next tick
