// Checks that swap compares the identity, each part of it.

import type { StoreIdentity } from 'flakeforge/lease'
import { Finding, show } from '../finding.ts'
import { slotName } from '../slot-name.ts'
import type { Check, Trial } from '../trial.ts'

/** An identity that lacks a part of the server's. */
const absent = (
  known: StoreIdentity,
  part: keyof StoreIdentity,
): [part: keyof StoreIdentity, other: StoreIdentity][] => (known[part] === '' ? [] : [[part, { ...known, [part]: '' }]])

/** Identities that differ from the server's in one part. */
const others = (known: StoreIdentity): [part: keyof StoreIdentity, other: StoreIdentity][] => [
  ['history', { ...known, history: `${known.history}x` }],
  ['process', { ...known, process: `${known.process}x` }],
  ...absent(known, 'history'),
  ...absent(known, 'process'),
]

async function otherIdentity(trial: Trial) {
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
        `a swap of ${isThere ? 'an existing record' : 'an absent record'} with another identity (${part} ${show(other[part])}) was answered true`,
        'false: the server is not the one that was read',
        `compare ${part} with the server's own in the same atomic step as the record`,
      )
    }
  }
  return 'a swap with another history or process is answered false'
}

export default [{ name: 'other identity', run: otherIdentity, isOfOneClient: true }] satisfies Check[]
