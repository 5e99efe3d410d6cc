'use strict'

// Finds packages of the user's project at run time, as Node does, from every place that belongs to the project.
// It must never use `require` itself, nor `__filename` where there is none: bundlers change the one, and ES modules have no
// other.

const { createRequire } = require('node:module')
const { isAbsolute, join } = require('node:path')

/** This file, which may be a bundle; the program that was started; and the current folder. */
function starts() {
  const here = typeof __filename === 'string' ? __filename : ''
  const program = process.argv[1] ?? ''
  return [here, program, join(process.cwd(), 'index.js')].filter(isAbsolute)
}

/** What `name` is for the file `start`, or undefined where it is nothing. */
function resolve(start, name) {
  try {
    return createRequire(start).resolve(name)
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error
  }
}

/** The same for the flakeforge that the file `start` sees. */
function resolveFromFlakeforge(start, name) {
  const flakeforge = resolve(start, 'flakeforge')
  return flakeforge && resolve(flakeforge, name)
}

/**
 * The path of a package, or undefined where it is not installed. Package managers that keep packages apart (pnpm, Yarn PnP)
 * show the project only what it names itself, and flakeforge only its own addon: so both are asked.
 */
function find(name) {
  for (const start of starts()) {
    const path = resolve(start, name) ?? resolveFromFlakeforge(start, name)
    if (path !== undefined) return path
  }
}

module.exports = { find, starts }
