'use strict'

// The store that the command line names: a URL, or a folder as a plain path. No folder is made here.

const { existsSync } = require('node:fs')
const { resolve } = require('node:path')
const { defaultFolder, fileStore } = require('../../lib/stores/file.js')
const { openStore } = require('../../lib/stores/open.js')
const { usageError } = require('./arguments.js')

/** One letter and a colon is a drive of Windows. */
const isUrl = (text) => /^[a-z][a-z\d+.-]+:/i.test(text) && !existsSync(text)

/** Undefined where nobody named one. */
const nameOf = (given) => given ?? (process.env.FLAKEFORGE_STORE || undefined)

/** The store, and how to close it; without a name, the default folder. */
const findStore = (name) => (name !== undefined && isUrl(name) ? openStore(name) : openFolder(name))

/** The default folder in a container too, where join() refuses it: to look does no harm. */
const openFolder = (name) => ({
  store: fileStore(name === undefined ? defaultFolder() : resolve(name)),
  close: async () => {},
})

/** Does something with the store that the command line names. */
async function withStore(given, work) {
  const { store, close } = findStore(nameOf(given))
  try {
    return await work(store)
  } finally {
    await close()
  }
}

/** The same with a store whose folder must be there: who looks for slots or ends a group makes none. */
const withPresentStore = (given, work) =>
  withStore(given, (store) => {
    if (nameOf(given) !== undefined && store.folder !== undefined && !existsSync(store.folder)) {
      throw usageError(`there is no folder ${store.folder}`)
    }
    return work(store)
  })

module.exports = { withPresentStore, withStore }
