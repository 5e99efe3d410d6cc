'use strict'

// FlakeId.join(): from a store and options to a generator that holds a slot.

const { storeFailure } = require('../base/errors.js')
const { throwIfAborted, unlessAborted } = require('../base/abort.js')
const { Lease } = require('./lease.js')
const { lease } = require('./leased-flake-id.js')
const { readJoinOptions } = require('./join-options.js')
const { checkStore, openStore } = require('./stores/open.js')
const { within } = require('../base/in-time.js')
const { setTimeout } = require('../base/timers.js')

/** How long we wait for our own client to end, after join() has failed and after close(). */
const [AFTER_FAILURE_MS, AFTER_CLOSE_MS] = [100, 900]
/** How long our own client waits for the store's answer after an abort: a slot that it still grants is given back. */
const AFTER_ABORT_MS = 1000

async function join(given, givenOptions) {
  checkStore(given, 'join')
  const options = readJoinOptions(givenOptions)
  throwIfAborted(options.signal) // before a client is made
  const { store, close } = openStore(given)
  const leaseOfGroup = new Lease(store, { ...options, howToCreate: () => howToCreate(given, options) })
  // A slot that the store grants too late is given back over the same client.
  const end = () => leaseOfGroup.settled().then(close)
  try {
    return await lease(leaseOfGroup, options, () => within(end(), AFTER_CLOSE_MS))
  } catch (error) {
    if (options.signal?.aborted) closeSoon(close)
    await within(end(), AFTER_FAILURE_MS)
    throw error
  }
}

/** Only a warning needs this, so it is loaded then. */
const howToCreate = (store, options) => require('./create-command.js').createCommand(store, options)

/** After an abort nothing may stay: even if the store does not answer, its connection is closed. */
function closeSoon(close) {
  setTimeout(() => close().catch(() => {}), AFTER_ABORT_MS).unref()
}

/**
 * Makes a group that is known to be new: there can be no forgotten grants.
 * @returns {Promise<boolean>} whether it was made; false if it already existed
 */
async function createGroup(given, givenOptions) {
  checkStore(given, 'createGroup')
  const { group, config, signal } = readJoinOptions(givenOptions)
  throwIfAborted(signal)
  const { store, close } = openStore(given)
  const made = makeGroup(store, group, config, signal)
  let isNew
  try {
    isNew = await unlessAborted(signal, made, () => true)
  } catch (error) {
    await within(
      made.catch(() => {}).then(close), // not while a step is under way
      AFTER_FAILURE_MS,
    )
    throw error
  }
  await close()
  return isNew === true
}

async function makeGroup(store, group, config, signal) {
  try {
    return await store.create(group, config, signal)
  } catch (error) {
    throw storeFailure(group, error)
  }
}

module.exports = { createGroup, join }
