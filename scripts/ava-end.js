'use strict'

// ava loads this file before each test file (`require` in ava.config.mjs). ava itself does not show when a file has
// ended, or how long it took.

const { fileURLToPath } = require('node:url')
const { endLine } = require('./ava-output.js')

process.once('exit', () => {
  const { file } = require('ava').meta // loaded here, because ava looks whether the test file loads it
  process.stdout.write(`${endLine(fileURLToPath(file), performance.now())}\n`)
})
