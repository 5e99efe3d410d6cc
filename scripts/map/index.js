'use strict'

// `npm run map` writes docs/map.md. `node scripts/map/index.js check` writes nothing, and fails where the page is not what
// the code says.

const { readFileSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { page } = require('./page.js')

const FILE = path.join(__dirname, '..', '..', 'docs', 'map.md')

const write = (text) => writeFileSync(FILE, text)

/** A checkout on Windows may have other line ends. */
function check(text) {
  if (readFileSync(FILE, 'utf8').replaceAll('\r\n', '\n') === text) return
  console.error('docs/map.md is not what the code says: run `npm run map`, and look at what it changed.')
  process.exitCode = 1
}

page().then(process.argv[2] === 'check' ? check : write)
