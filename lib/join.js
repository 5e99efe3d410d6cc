'use strict'

// FlakeId.join(): from a store and options to a generator that holds a slot.

const { storeFailure } = require('./errors.js')
const { Lease } = require('./lease.js')
const { lease } = require('./leased-flake-id.js')
const { readJoinOptions } = require('./join-options.js')
const { checkStore, openStore } = require('./stores/open.js')
const { within } = require('./in-time.js')

/** How long anybody waits for a client of ours to end, after join() has failed and after close(). */
const [AFTER_FAILURE_MS, AFTER_CLOSE_MS] = [100, 900]

async function join(given, givenOptions) {
  checkStore(given, 'join')
  const options = readJoinOptions(givenOptions)
  const { store, close } = openStore(given)
  const leaseOfGroup = new Lease(store, { ...options, howToCreate: () => howToCreate(given, options) })
  // A slot that the store grants too late is given back over the same client.
  const end = () => leaseOfGroup.settled().then(close)
  try {
    return await lease(leaseOfGroup, options, () => within(end(), AFTER_CLOSE_MS))
  } catch (error) {
    await within(end(), AFTER_FAILURE_MS)
    throw error
  }
}

/** For a warning only, so it is loaded then. */
const howToCreate = (store, options) => require('./create-command.js').createCommand(store, options)

/**
 * Makes a group that is known to be new: nothing can have been granted that is forgotten now.
 * @returns {Promise<boolean>} whether it was made; false: it was there
 */
async function createGroup(given, givenOptions) {
  checkStore(given, 'createGroup')
  const { group, config } = readJoinOptions(givenOptions)
  const { store, close } = openStore(given)
  try {
    return await store.open(group, { ...config, create: true })
  } catch (error) {
    throw storeFailure(group, error)
  } finally {
    await close()
  }
}

module.exports = { createGroup, join }
