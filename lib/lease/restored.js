'use strict'
// @ts-check

// restored(): says of groups and counters that older records of them were put back, which a store may not show by itself. It
// must never leave one out because another fails.

const { checkKeys, isAbsent } = require('../base/check.js')
const { optionTypeError, unusableOptionError } = require('../base/errors.js')
const { readName } = require('./common-options.js')
const { checkStore, openStore } = require('./stores/open.js')

/** What may be named. */
const WANTED = "a group's name, or { name } of a counter"

/**
 * @import { SlotStore } from './stores/database.js'
 *
 * A group or a counter.
 * @typedef {{ group: string } | { name: string }} Kept
 */

/**
 * What a user names: a group, or a counter as SegmentId.open() does; undefined for all of both.
 * @param {unknown} given
 * @returns {Kept | undefined}
 */
function readKept(given) {
  if (isAbsent(given)) return undefined
  if (typeof given === 'string') return { group: readName('group', given) }
  if (typeof given !== 'object') throw optionTypeError('what', given, WANTED)
  return { name: readName('name', checkKeys('what', given, ['name']).name) }
}

/**
 * Returns what was told.
 * @param {SlotStore} store
 * @param {Kept | undefined} named all groups and counters, if it is none
 * @param {() => Error} unlisted what to throw where a store cannot list them
 */
async function tell(store, named, unlisted) {
  if (store.restored === undefined) throw unusableOptionError('store', store, 'for restored(): that is for servers')
  const told = named === undefined ? await store.everything?.() : [named]
  if (told === undefined) throw unlisted()
  /** @type {Error[]} */
  const failures = []
  for (const kept of told) await store.restored(kept).catch((error) => failures.push(error))
  if (failures.length > 0) throw failures[0]
  return told
}

const unlistedError = () => optionTypeError('what', undefined, `${WANTED}: this store cannot list what it has`)

/**
 * @param {unknown} given the store
 * @param {unknown} [what]
 */
async function restored(given, what) {
  checkStore(given, 'restored')
  const named = readKept(what)
  const { store, close } = openStore(given)
  try {
    await tell(store, named, unlistedError)
  } finally {
    await close()
  }
}

module.exports = { restored, tell }
