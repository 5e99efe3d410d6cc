'use strict'

// Loads the client packages of the user's project: flakeforge depends on none of them.

const { existsSync, readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { basename, dirname, join } = require('node:path')
const { find } = require('../../native/packages/search')

/** Bun loads postgres.js as an ES module: `require` returns an object of all its exports instead of the default one. */
const exported = (loaded) => (typeof loaded === 'object' ? (loaded.default ?? loaded) : loaded)

/** A package of the user's project, or undefined if it is not installed. */
function load(name) {
  const path = find(name)
  // A package that is not installed may still be there: a tool may have put it into the program itself.
  return exported(path === undefined ? require('#packages').loadClient(name) : createRequire(path)(path))
}

/** The version of a package of the user's project, as numbers; undefined if it is unknown. */
function versionOf(name) {
  try {
    for (let folder = dirname(find(name)); basename(folder); folder = dirname(folder)) {
      const manifest = join(folder, 'package.json')
      const known = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {}
      if (known.name === name) return known.version.split('.').map((part) => Number.parseInt(part, 10))
    }
  } catch {
    // a bundle, or an archive: nothing there says which version it is
  }
}

module.exports = { load, versionOf }
