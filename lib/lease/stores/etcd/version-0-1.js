'use strict'
// @ts-check

// What version 0.1 left on etcd: it is found, and its groups can be ended. It must never change a counter of 0.1, or
// write a record of 0.1 that its members would not understand.
//
//   flakeforge/group/<group>/record                 the group, or what is left of it: `destroyed`
//   flakeforge/group/<group>/slots/hw/<slot>        a slot with its window
//   flakeforge/group/<group>/slots/end/<hi>/<slot>  the same, in the order of the ends
//   flakeforge/group/<group>/slots/…                the same in other orders
//   flakeforge/counter/<name>                       a counter

const { storeError } = require('../../../base/errors.js')
const { sleep } = require('../../../base/timers.js')
const { endOf, part } = require('./keys.js')
const { areOlder, holds, put, readLast, readOne, removeAll } = require('./requests.js')

/** The longest ttl, and the default skew, of a group of 0.1. */
const LONGEST_TTL_MS = 60_000
const DEFAULT_SKEW_MS = 5000

/** How often the end of a group is tried while its members renew, with a random wait of up to 100 ms. */
const ATTEMPTS = 64
const LONGEST_WAIT_MS = 100

/**
 * @import { Pair } from './gateway.js'
 * @typedef {InstanceType<typeof import('./gateway.js').Gateway>} Gateway
 */

/**
 * The group as 0.1 wrote it, or what is left of it.
 * @typedef {{ destroyed?: boolean, floor: number, quietUntil: number, skewMs: number, nonce: string, since: number, cluster: string }} Group
 */

/** @param {string} group */
const recordKey = (group) => `flakeforge/group/${part(group)}/record`
/** @param {string} group */
const slotsPrefix = (group) => `flakeforge/group/${part(group)}/slots/`
/** @param {string} name */
const counterKey = (name) => `flakeforge/counter/${part(name)}`

/**
 * What 0.1 wrote there: a Group, a slot with its `hi`, or a counter with its `value`.
 * @param {Pair | undefined} pair
 */
function parse(pair) {
  if (pair === undefined) return
  try {
    return JSON.parse(pair.value)
  } catch (error) {
    throw storeError(`The etcd key ${pair.key} does not hold a record of flakeforge: ${pair.value.slice(0, 40)}`, error)
  }
}

/**
 * @param {Group | undefined} record
 * @returns {record is Group}
 */
const isLive = (record) => record !== undefined && record.destroyed !== true

/**
 * Whether there is a living group of this name, and the value of the counter of this name.
 * @param {Gateway} gateway
 * @param {string} name
 */
async function older(gateway, name) {
  const { lists } = await gateway.txn({ success: [readOne(recordKey(name)), readOne(counterKey(name))] })
  const [record, counter] = lists.map(([pair]) => parse(pair))
  return { group: isLive(record), counter: counter?.value }
}

/**
 * Ends a group of 0.1 for its members: they find it destroyed at their next renewal.
 * @param {Gateway} gateway
 * @param {string} group
 */
async function endOlder(gateway, group) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await isEnded(gateway, group)) return
    await sleep(Math.random() * LONGEST_WAIT_MS)
  }
  throw storeError(
    `The members of group '${group}' of version 0.1 wrote on etcd during each of ${ATTEMPTS} attempts to end it. Stop ` +
      'some of them, and end it again.',
  )
}

/**
 * One attempt. No window may be written between the read of the ends and the end of the group.
 * @param {Gateway} gateway
 * @param {string} group
 */
async function isEnded(gateway, group) {
  const [key, slots] = [recordKey(group), slotsPrefix(group)]
  const [windows, ends] = [`${slots}hw/`, `${slots}end/`]
  const { lists, now, revision } = await gateway.txn({ success: [readOne(key), readLast(ends, endOf(ends))] })
  const [pair] = lists[0]
  const record = parse(pair)
  if (!isLive(record)) return true
  const { isDone } = await gateway.txn({
    compare: [holds(key, pair.value), areOlder(windows, endOf(windows), revision)],
    success: [put(key, tombstone(record, parse(lists[1][0]), now)), removeAll(slots, endOf(slots))],
  })
  return isDone
}

/**
 * What 0.1 leaves of a group. A new group that 0.1 makes of this name grants nothing up to `floor`, which lies past all
 * windows: those on record, and those that the store may have lost.
 * @param {Group} group
 * @param {{ hi: number } | undefined} last the slot whose window ends last
 * @param {number} now
 */
function tombstone({ quietUntil, floor, skewMs, nonce, since, cluster }, last, now) {
  const lostEnd = now + LONGEST_TTL_MS + Math.max(skewMs, DEFAULT_SKEW_MS)
  const end = Math.max(floor, last?.hi ?? -1, lostEnd)
  return JSON.stringify({ destroyed: true, floor: end, quietUntil, nonce, since, cluster })
}

module.exports = { endOlder, older }
