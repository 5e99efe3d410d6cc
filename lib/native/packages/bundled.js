'use strict'
// @ts-check

// The same as traced.js, but for bundlers. They cannot put an addon into a bundle, and would warn about each missing
// package, so this file has no requires for them to follow. It finds what it needs at run time.

const { existsSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { find, starts } = require('./search.js')

/** @param {string | undefined} path */
const load = (path) => path && createRequire(path)(path)

/**
 * The addon: a file that somebody copied next to the bundle, or its package.
 * @param {string} target
 */
function loadAddon(target) {
  const files = starts().map((start) => join(dirname(start), `flakeforge.${target}.node`))
  return load(files.find((file) => existsSync(file)) ?? find(`flakeforge-${target}`))
}

/** @param {string} name */
const loadClient = (name) => load(find(name))

module.exports = { loadAddon, loadClient }
