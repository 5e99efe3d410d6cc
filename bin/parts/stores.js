'use strict'

// The store that the command line names: a URL, or a folder as a plain path. A folder that is missing is not made.

const { existsSync } = require('node:fs')
const { resolve } = require('node:path')
const { defaultFolder, fileStore } = require('../../lib/stores/file.js')
const { openStore } = require('../../lib/stores/open.js')
const { usageError } = require('./arguments.js')

const isUrl = (text) => /^[a-z][a-z\d+.-]*:/i.test(text) && !existsSync(text)

/** The store, and how to close it; without a name, the one that FLAKEFORGE_STORE names, or the default folder. */
function findStore(given) {
  const name = given ?? (process.env.FLAKEFORGE_STORE || undefined)
  const { store, close } = name !== undefined && isUrl(name) ? openStore(name) : openFolder(name)
  if (name !== undefined && store.folder !== undefined && !existsSync(store.folder)) {
    throw usageError(`there is no folder ${store.folder}`)
  }
  return { store, close }
}

/** The default folder in a container too, where join() refuses it: to look does no harm. */
const openFolder = (name) => ({
  store: fileStore(name === undefined ? defaultFolder() : resolve(name)),
  close: async () => {},
})

/** Does something with the store that the command line names. */
async function withStore(name, work) {
  const { store, close } = findStore(name)
  try {
    return await work(store)
  } finally {
    await close()
  }
}

module.exports = { withStore }
