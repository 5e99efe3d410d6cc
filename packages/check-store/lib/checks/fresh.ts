// Checks that a read shows every swap that was answered before it began, from any process; and the position.

import { Finding, show } from '../finding.ts'
import { slotName } from '../slot-name.ts'
import { monotonicNow } from '../time.ts'
import type { Check, Trial } from '../trial.ts'

/** Reads of one name, of some and of many, which a database may answer in different ways; this many times each, in turn. */
const STREAK = 4
const LISTS = [1, 20, 1100].map((count) => ['group', ...Array.from({ length: count - 1 }, (_, i) => slotName(i))])

async function freshReads(trial: Trial) {
  const group = trial.group('fresh')
  const end = monotonicNow() + trial.size.freshMs
  let last: string | null = null
  let rounds = 0
  for (; rounds < trial.size.freshRounds && (monotonicNow() < end || rounds < LISTS.length * STREAK); rounds++) {
    const text = trial.text(String(rounds))
    const k = rounds % trial.clients.length
    await trial.change(trial.clients[k], group, 'group', last, text)
    const names = LISTS[Math.floor(rounds / STREAK) % LISTS.length]
    const seen = await Promise.all(trial.clients.map(async (client) => (await client.values(group, names))[0]))
    const wrong = seen.findIndex((value) => value !== text)
    if (wrong >= 0) {
      const where = wrong === k ? 'the client that made it' : 'a client of another process'
      throw new Finding(
        `in round ${rounds + 1}, a read of ${names.length} names by ${where} returned ${show(seen[wrong])} after a swap to ${show(text)} was answered true`,
        'the last swap in every read that begins after its answer',
        'read from the server that takes writes, never from a replica or a cache',
      )
    }
    last = text
  }
  return `${rounds} swaps are seen at once by clients in ${trial.clients.length} processes`
}

async function position(trial: Trial) {
  const group = trial.group('position')
  let last: string | null = null
  let highest: number | bigint | undefined
  let first: number | bigint | undefined
  for (let i = 0; i < trial.clients.length * 5; i++) {
    const text = trial.text()
    await trial.change(trial.clients[i % trial.clients.length], group, 'group', last, text)
    last = text
    const reader = trial.clients[(i + 1) % trial.clients.length]
    const seen = (await reader.read(group, ['group'])).position
    if (i > 0 && typeof seen !== typeof highest) {
      throw new Finding(
        `position was ${show(highest)} in one read and ${show(seen)} in another`,
        'a number in every read, a bigint in every read, or none',
        'return it always or never',
      )
    }
    if (seen !== undefined && highest !== undefined && seen < highest) {
      throw new Finding(
        `position fell from ${highest} to ${seen}`,
        'a number that never falls while nothing is lost',
        'take it from the server, such as the revision of its data, or leave it out',
      )
    }
    first ??= seen
    highest = seen
  }
  if (first !== undefined && first === highest) {
    throw new Finding(
      `position stayed at ${first} during ${trial.clients.length * 5} swaps`,
      'a number that rises as records are written, so that it falls when they are lost',
      'take the revision of the data from the server, or leave it out',
    )
  }
  return highest === undefined ? 'absent, which is allowed' : 'rises and never fell'
}

export default [
  { name: 'fresh reads', run: freshReads },
  { name: 'position', run: position, isOfOneClient: true },
] satisfies Check[]
