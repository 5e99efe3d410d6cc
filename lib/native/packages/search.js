'use strict'
// @ts-check

// Finds packages of the user's project at run time, as Node does, from every place that belongs to the project. It must
// never use `require` itself, because bundlers change it, or rely on `__filename`, which ES modules do not have.

const { createRequire } = require('node:module')
const { isAbsolute, join } = require('node:path')

/** This file, which may be a bundle; the program that was started; and the current folder. */
function starts() {
  const here = typeof __filename === 'string' ? __filename : ''
  const program = process.argv[1] ?? ''
  return [here, program, join(process.cwd(), 'index.js')].filter(isAbsolute)
}

/**
 * The path that `name` resolves to in the file `start`, or undefined.
 * @param {string} start
 * @param {string} name
 */
function resolve(start, name) {
  try {
    return createRequire(start).resolve(name)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'MODULE_NOT_FOUND') throw error
  }
}

/**
 * The same for the flakeforge that the file `start` sees.
 * @param {string} start
 * @param {string} name
 */
function resolveFromFlakeforge(start, name) {
  const flakeforge = resolve(start, 'flakeforge')
  return flakeforge && resolve(flakeforge, name)
}

/**
 * The path of a package, or undefined if it is not installed. With package managers that keep packages apart (pnpm,
 * Yarn PnP) the project finds only what it names itself, and flakeforge finds only its own addon. So we look from both.
 * @param {string} name
 */
function find(name) {
  for (const start of starts()) {
    const path = resolve(start, name) ?? resolveFromFlakeforge(start, name)
    if (path !== undefined) return path
  }
}

module.exports = { find, starts }
