'use strict'

// Package managers install this on systems for which there may be no binary: see package.json. It brings the WebAssembly.
module.exports = require('@flakeforge/binding-wasm32-wasi')
