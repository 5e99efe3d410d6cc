'use strict'

// The client packages of the user's project: flakeforge depends on none of them.

const { existsSync, readFileSync } = require('node:fs')
const { basename, dirname, join } = require('node:path')

/** Where to look: package managers that keep packages apart show ours only what we depend on, but the project its own. */
const paths = () => [__dirname, process.cwd()]

/** A package of the user's project, or undefined where it is not installed. */
function load(name) {
  let path
  try {
    path = require.resolve(name, { paths: paths() })
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return
    throw error
  }
  return require(path)
}

/** The version of a package of the user's project, as numbers; undefined where nothing tells it. */
function versionOf(name) {
  try {
    for (let folder = dirname(require.resolve(name, { paths: paths() })); basename(folder); folder = dirname(folder)) {
      const manifest = join(folder, 'package.json')
      const known = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {}
      if (known.name === name) return known.version.split('.').map((part) => Number.parseInt(part, 10))
    }
  } catch {
    // a bundle, or an archive: the range of peerDependencies says it too
  }
}

module.exports = { load, versionOf }
