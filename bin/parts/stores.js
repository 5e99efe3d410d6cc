'use strict'

// The store that the command line names: a URL, or a folder as a plain path. No folder is made here.

const { existsSync } = require('node:fs')
const { resolve } = require('node:path')
const { nearest } = require('../../lib/nearest.js')
const { defaultFolder, fileStore } = require('../../lib/stores/file.js')
const { openStore } = require('../../lib/stores/open.js')
const { failure } = require('./faults.js')

/** What URLs of stores begin with, for completion. */
const SCHEMES = ['redis://', 'rediss://', 'postgres://', 'etcd://', 'etcds://']

/** One letter and a colon is a drive of Windows. */
const isUrl = (text) => /^[a-z][a-z\d+.-]+:/i.test(text) && !existsSync(text)

/** Undefined where nobody named one. */
const nameOf = (given) => given ?? (process.env.FLAKEFORGE_STORE || undefined)

/** The same as join() takes it, which knows no plain paths. */
function addressOf(given) {
  const name = nameOf(given)
  return name === undefined || isUrl(name) ? name : `file:${resolve(name)}`
}

/** The store, and how to close it; without a name, the default folder. */
const findStore = (name) => (name !== undefined && isUrl(name) ? openStore(name) : openFolder(name))

/** The default folder in a container too, where join() refuses it: to look does no harm. */
const openFolder = (name) => ({
  store: fileStore(name === undefined ? defaultFolder() : resolve(name)),
  close: async () => {},
})

/** Does something with the store that the command line or the environment names, or else with the default folder. */
async function withStore(given, work) {
  const { store, close } = findStore(nameOf(given))
  try {
    return await work(store)
  } finally {
    await close()
  }
}

/** The same with a store whose folder must be there: who looks at slots or ends a group makes no folder. */
const withPresentStore = (given, work) =>
  withStore(given, (store) => {
    if (nameOf(given) !== undefined && store.folder !== undefined && !existsSync(store.folder)) {
      throw failure(`There is no folder ${store.folder}.`)
    }
    return work(store)
  })

/** The names of all groups; undefined where the store cannot list them. */
const groupsOf = async (store) => store.groups?.()

/** Whether a group is there, perhaps without a slot that was ever held. */
const hasGroup = async (store, group) => (await groupsOf(store))?.includes(group) ?? store.has(group)

/** The error of a group that is not there, with the one that may have been meant. */
async function noGroup(store, group) {
  const known = await groupsOf(store)
  const text = `There is no group '${group}' ${placeOf(store)}.`
  if (known === undefined) return failure(`${text} Check its name. This server cannot list its groups.`)
  const meant = nearest(group, known)
  if (meant !== undefined) return failure(`${text} Did you mean '${meant}'?`)
  const some = known.slice(0, 10).map((name) => `'${name}'`)
  const more = known.length > some.length ? [`${known.length - some.length} more`] : []
  return failure(`${text} ${known.length === 0 ? 'There are none.' : `There are ${[...some, ...more].join(', ')}.`}`)
}

const placeOf = ({ folder }) => (folder === undefined ? 'on this server' : `in ${folder}`)

module.exports = {
  SCHEMES,
  groupsOf,
  hasGroup,
  addressOf,
  noGroup,
  placeOf,
  withPresentStore,
  withStore,
}
