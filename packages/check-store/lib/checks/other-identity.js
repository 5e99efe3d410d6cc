'use strict'
// @ts-check

// That swap compares the identity, each part of it.

/** @import { StoreIdentity } from '../../../../index.d.ts' */
/** @import { Check, Trial } from '../trial.js' */

const { Finding, show } = require('../finding.js')
const { slotName } = require('../slot-name.js')

/**
 * An identity without a part that the server's has.
 * @param {StoreIdentity} known
 * @param {keyof StoreIdentity} part
 * @returns {[part: keyof StoreIdentity, other: StoreIdentity][]}
 */
const absent = (known, part) => (known[part] === '' ? [] : [[part, { ...known, [part]: '' }]])

/**
 * Identities that differ from the server's in one part.
 * @param {StoreIdentity} known
 * @returns {[part: keyof StoreIdentity, other: StoreIdentity][]}
 */
const others = (known) => [
  ['history', { ...known, history: `${known.history}x` }],
  ['process', { ...known, process: `${known.process}x` }],
  ...absent(known, 'history'),
  ...absent(known, 'process'),
]

/** @param {Trial} trial */
async function otherIdentity(trial) {
  const group = trial.group('other identity')
  const [client] = trial.clients
  const known = await client.identity(group)
  for (const [i, [part, other]] of others(known).entries()) {
    const name = slotName(i)
    for (const isThere of [false, true]) {
      const from = isThere ? trial.text() : null
      if (from !== null) await client.change(group, name, await client.value(group, name), from)
      const answer = await client.swap(group, name, from, trial.text(), other)
      trial.note(group, name, await client.value(group, name)) // it may be written although the answer was false
      if (!answer) continue
      throw new Finding(
        `a swap of ${isThere ? 'a record that is there' : 'an absent record'} with another identity (${part} ${show(other[part])}) was answered true`,
        'false: the server is not the one that was read',
        `compare ${part} with the server's own in the same atomic step as the record`,
      )
    }
  }
  return 'a swap with another history or process is answered false'
}

/** @type {Check[]} */
module.exports = [{ name: 'other identity', run: otherIdentity }]
