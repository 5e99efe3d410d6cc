'use strict'

// FlakeId.join(): from a store and options to a generator that holds a slot.

const { storeFailure } = require('./errors.js')
const { Lease } = require('./lease.js')
const { lease } = require('./leased-flake-id.js')
const { readJoinOptions } = require('./join-options.js')
const { openStore } = require('./stores/open.js')

async function join(given, givenOptions) {
  const options = readJoinOptions(givenOptions)
  const { store, close } = openStore(given)
  try {
    await openGroup(store, options)
    return await lease(new Lease(store, options), options, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function openGroup(store, { group, config }) {
  try {
    await store.open(group, config)
  } catch (error) {
    throw storeFailure(group, error)
  }
}

/** Makes a group that is known to be new: nothing can have been granted that is forgotten now. */
async function createGroup(given, givenOptions) {
  const { group, config } = readJoinOptions(givenOptions)
  const { store, close } = openStore(given)
  try {
    await openGroup(store, { group, config: { ...config, create: true } })
  } finally {
    await close()
  }
}

module.exports = { createGroup, join }
