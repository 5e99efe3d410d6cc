'use strict'

// The client packages of the user's project: flakeforge depends on none of them.

const { existsSync, readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { basename, dirname, join } = require('node:path')
const { find } = require('../packages/search')

/** A package of the user's project, or undefined where it is not installed. */
function load(name) {
  const path = find(name)
  if (path !== undefined) return createRequire(path)(path)
  return require('#packages').loadClient(name) // what a tool has put into the program itself
}

/** The version of a package of the user's project, as numbers; undefined where nothing tells it. */
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
