'use strict'
// @ts-check

// That a loss shows: after the module's wipe() the identity is another one, or all records are absent. It must run last.

/** @import { StoreIdentity } from '../../../../index.d.ts' */
/** @import { Client } from '../process.js' */
/** @import { Check, Found, Trial } from '../trial.js' */

const { monotonicNow, sleep } = require('../../../../lib/base/timers.js')
const { Finding } = require('../finding.js')

const BACK_MS = 10_000

/**
 * Asks again for a while, because a wipe may have restarted the server.
 * @template T
 * @param {() => Promise<T>} ask
 * @returns {Promise<T>}
 */
async function whenBack(ask) {
  const end = monotonicNow() + BACK_MS
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof Finding || monotonicNow() > end) throw error
      await sleep(100)
    }
  }
}

/**
 * Whether some records are not as they were, and whether each group has lost all of them or none.
 * @param {Found[]} found
 */
function lostOf(found) {
  /** @type {Map<string, { isKept: boolean, isGone: boolean }[]>} */
  const groups = new Map()
  for (const { group, wanted, seen } of found) {
    groups.set(group, [...(groups.get(group) ?? []), { isKept: seen === wanted, isGone: seen === null }])
  }
  const records = [...groups.values()]
  return {
    some: found.some(({ wanted, seen }) => seen !== wanted),
    whole: records.every((group) => group.every(({ isKept }) => isKept) || group.every(({ isGone }) => isGone)),
  }
}

/** @param {Trial} trial */
async function loss(trial) {
  if (!trial.wipes) return 'not looked at: the module exports no wipe()'
  const group = trial.group('shared')
  const before = await trial.clients[0].identity(group)
  await trial.processes[0].ask('wipe')
  const fresh = await whenBack(() => trial.newClient())
  for (const client of [fresh, ...trial.clients]) {
    const now = await whenBack(() => client.identity(group))
    if (now.history !== before.history || now.process !== before.process) continue
    const { some, whole } = lostOf(await whenBack(() => trial.find(client)))
    if (some && whole) continue
    throw new Finding(
      some
        ? 'after wipe(), only a part of a group is gone, and the identity is the same'
        : 'after wipe(), nothing is gone and the identity is the same',
      'another identity, or no record of a group: a loss must show',
      some ? 'change the identity when writes may be missing' : 'let wipe() lose what the server has',
    )
  }
  return (await isRefusedNow(fresh, group, before))
    ? 'it shows, and a swap from before is refused'
    : 'the records are gone'
}

/**
 * If the identity is another one now, a swap with the one before must be refused.
 * @param {Client} client
 * @param {string} group
 * @param {StoreIdentity} before
 */
async function isRefusedNow(client, group, before) {
  const { history, process } = await client.identity(group)
  if (history === before.history && process === before.process) return false
  const from = await client.value(group, 'group')
  if (!(await client.swap(group, 'group', from, 'flakeforge check: after a loss', before))) return true
  throw new Finding(
    'after wipe(), a swap with the identity from before was answered true',
    'false: the server is not the one that was read',
    'compare the identity in the same atomic step as the record',
  )
}

/** @type {Check[]} */
module.exports = [{ name: 'loss', run: loss }]
