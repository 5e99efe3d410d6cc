'use strict'

// The same as traced.js for bundlers, which cannot put an addon into a bundle and would warn of each package that is
// missing: nothing here for them to follow. What is needed is looked for at run time.

const { existsSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { find, starts } = require('./search.js')

const load = (path) => path && createRequire(path)(path)

/** The addon: a file beside the bundle, where somebody copied it, or its package. */
function loadAddon(target) {
  const files = starts().map((start) => join(dirname(start), `flakeforge.${target}.node`))
  return load(files.find((file) => existsSync(file)) ?? find(`flakeforge-${target}`))
}

const loadClient = (name) => load(find(name))

module.exports = { loadAddon, loadClient }
