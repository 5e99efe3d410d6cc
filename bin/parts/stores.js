'use strict'

// Opens the store that the command line names: a URL, or a folder as a plain path. It must never create a folder.

const { existsSync } = require('node:fs')
const { resolve } = require('node:path')
const { nearest } = require('../../lib/base/nearest.js')
const { defaultFolder, fileStore } = require('../../lib/files/file-store.js')
const { openStore } = require('../../lib/lease/stores/open.js')
const { failure } = require('./faults.js')

/** What URLs of stores begin with, for completion. */
const SCHEMES = ['redis://', 'rediss://', 'postgres://', 'mysql://', 'mariadb://', 'etcd://', 'etcds://']

/** One letter and a colon is a Windows drive. */
const isUrl = (text) => /^[a-z][a-z\d+.-]+:/i.test(text) && !existsSync(text)

/** Undefined if none is named. */
const nameOf = (given) => given ?? (process.env.FLAKEFORGE_STORE || undefined)

/** The same in the form that join() takes: it knows no plain paths. */
function addressOf(given) {
  const name = nameOf(given)
  return name === undefined || isUrl(name) ? name : `file:${resolve(name)}`
}

/** The store and a function that closes it; without a name, the default folder. */
const findStore = (name) => (name !== undefined && isUrl(name) ? openStore(name) : openFolder(name))

/** Uses the default folder even in a container, where join() refuses it: looking does no harm. */
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

/** The same with a store whose folder must exist: looking at slots or ending a group must not create a folder. */
const withPresentStore = (given, work) =>
  withStore(given, (store) => {
    if (nameOf(given) !== undefined && store.folder !== undefined && !existsSync(store.folder)) {
      throw failure(`There is no folder ${store.folder}.`)
    }
    return work(store)
  })

/** The names of all groups; undefined if the store cannot list them. */
const groupsOf = async (store) => store.groups?.()

/** Whether a group exists, even if none of its slots was ever held. */
const hasGroup = async (store, group) => (await groupsOf(store))?.includes(group) ?? store.has(group)

/** The error for a group that does not exist, with the name that may have been meant. */
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
