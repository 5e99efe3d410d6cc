'use strict'

// The files of lib/ and what they require, as dependency-cruiser finds it.

const path = require('node:path')
const { LIB } = require('../rooms.js')
const { purposeOf } = require('./purpose.js')

const root = path.join(__dirname, '..', '..')

/** @throws {Error} for a file of lib/ that stands in none of its rooms */
async function readLib() {
  const { cruise } = await import('dependency-cruiser')
  const { output } = await cruise(['lib'], { baseDir: root, doNotFollow: { path: '^(?!lib/)' } })
  const modules = output.modules.filter(({ source }) => source.startsWith('lib/'))
  return modules.map(({ source, dependencies }) => {
    const file = source.slice('lib/'.length)
    if (!Object.hasOwn(LIB, file.split('/')[0])) throw new Error(`${source} stands in no room: see scripts/rooms.js`)
    const used = dependencies.map(({ resolved }) => resolved).filter((other) => other.startsWith('lib/'))
    return { file, purpose: purposeOf(path.join(root, source)), uses: used.map((other) => other.slice('lib/'.length)) }
  })
}

module.exports = { readLib }
