'use strict'
// @ts-check

// FlakeId.join() and createGroup(): from a store and options to a generator that holds a slot, or to a new group.
//
// It must never leave a client open that it made itself: not after a failure, an abort or close().

const { storeFailure } = require('../base/errors.js')
const { throwIfAborted, unlessAborted } = require('../base/abort.js')
const { Lease } = require('./lease.js')
const { SlotGenerator } = require('./slot-generator.js')
const { readJoinOptions } = require('./join-options.js')
const { checkStore, openStore } = require('./stores/open.js')
const { within } = require('../base/in-time.js')
const { setTimeout } = require('../base/timers.js')

/**
 * @import { LeaseOrServers } from './else-from/lease-or-servers.js'
 * @import { JoinOptions } from './join-options.js'
 * @import { SlotStore } from './stores/database.js'
 */

/** How long we wait for our own client to end, after join() has failed and after close(). */
const [AFTER_FAILURE_MS, AFTER_CLOSE_MS] = [100, 900]
/** How long our own client waits for the store's answer after an abort: a slot that it still grants is given back. */
const AFTER_ABORT_MS = 1000

/**
 * @param {unknown} given the store
 * @param {unknown} [givenOptions]
 */
async function join(given, givenOptions) {
  checkStore(given, 'join')
  const options = readJoinOptions(givenOptions)
  throwIfAborted(options.signal) // before a client is made
  const { store, close } = openStore(given)
  const generator = new SlotGenerator(options)
  const slots = new Lease(store, generator, { ...options, howToCreate: () => howToCreate(given, options) })
  const { lease, look } = orServers(slots, options, generator)
  // A slot that the store grants too late is given back over the same client.
  const end = () => lease.settled().then(close)
  try {
    await lease.attach(options.signal)
    look()
    return generator.forUsers(lease, () => within(end(), AFTER_CLOSE_MS))
  } catch (error) {
    if (options.signal?.aborted) closeSoon(close)
    await within(end(), AFTER_FAILURE_MS)
    throw error
  }
}

/**
 * The lease, with servers behind it if there are any. `look()` compares their group with that of the lease.
 * @param {Lease} lease
 * @param {JoinOptions} options
 * @param {SlotGenerator} generator
 * @returns {{ lease: Lease | LeaseOrServers, look: () => unknown }}
 */
function orServers(lease, options, generator) {
  const { elseFrom } = options
  if (elseFrom === undefined) return { lease, look: () => {} }
  const { withServers } = require('./else-from/else-from.js')
  return withServers(lease, { ...options, elseFrom }, () => generator.wake())
}

/**
 * Only a warning needs this, so it is loaded then.
 * @param {unknown} store
 * @param {JoinOptions} options
 */
const howToCreate = (store, options) => require('./how-to-create.js').howToCreate(store, options)

/**
 * After an abort nothing may stay: even if the store does not answer, its connection is closed.
 * @param {() => Promise<void>} close
 */
function closeSoon(close) {
  setTimeout(() => close().catch(() => {}), AFTER_ABORT_MS).unref()
}

/**
 * Makes a group that is known to be new: there can be no forgotten grants.
 * @param {unknown} given the store
 * @param {unknown} [givenOptions]
 * @returns whether it was made; false if it already existed
 */
async function createGroup(given, givenOptions) {
  checkStore(given, 'createGroup')
  const options = readJoinOptions(givenOptions)
  throwIfAborted(options.signal)
  const { store, close } = openStore(given)
  const made = makeGroup(store, options)
  let isNew
  try {
    isNew = await unlessAborted(options.signal, made, () => true)
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

/**
 * @param {SlotStore} store
 * @param {JoinOptions} options
 */
async function makeGroup(store, { group, config, signal }) {
  try {
    return await store.create(group, config, signal)
  } catch (error) {
    throw storeFailure(group, error)
  }
}

module.exports = { createGroup, join }
