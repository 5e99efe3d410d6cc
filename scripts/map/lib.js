'use strict'

// The files of lib/ and what they import.

const path = require('node:path')
const { filesOf, sourcesIn } = require('../imports.js')
const { LIB } = require('../rooms.js')
const { purposeOf } = require('./purpose.js')

const lib = path.join(__dirname, '..', '..', 'lib')
const nameOf = (file) => path.relative(lib, file).split(path.sep).join('/')

/** @throws {Error} for a file of lib/ that is in none of its rooms */
function readLib() {
  const files = sourcesIn(lib).filter((file) => !nameOf(file).startsWith('entries/'))
  return files.map((source) => {
    const file = nameOf(source)
    if (!Object.hasOwn(LIB, file.split('/')[0])) throw new Error(`lib/${file} is in no room: see scripts/rooms.js`)
    return { file, purpose: purposeOf(source), uses: filesOf(source).map(nameOf) }
  })
}

module.exports = { readLib }
