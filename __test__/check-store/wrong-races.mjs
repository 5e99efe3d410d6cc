// Stores that are wrong only while several clients are active: in swaps of one record, and in reads during swaps.
// wrong.mjs has the others, and opens these too.

import { setTimeout as sleep } from 'node:timers/promises'
import { isSame } from './right.mjs'

/** A store that compares first and writes later: existing records, missing ones, or both. */
const inTwoSteps =
  (isMeant) =>
  (store, { ask }) => ({
    async swap(group, name, from, to, identity) {
      if (!isMeant(from)) return store.swap(group, name, from, to, identity)
      const answer = await store.read(group, [name])
      if (answer.values[0] !== from || !isSame(answer.identity, identity)) return false
      await ask('put', group, name, to)
      return true
    },
  })

/** A store that reads the names in several parts. */
const inParts =
  (partsOf, pauseMs = 0) =>
  (store) => ({
    async read(group, names) {
      const [first, ...rest] = partsOf(names)
      let answer = await store.read(group, first)
      const values = [...answer.values]
      for (const part of rest.filter(({ length }) => length > 0)) {
        await sleep(pauseMs)
        answer = await store.read(group, part)
        values.push(...answer.values)
      }
      return { ...answer, values }
    },
  })

export const RACES = {
  'read, then write': {
    check: 'atomic swaps',
    change: inTwoSteps(() => true),
  },
  'look for it, then create it': {
    check: 'atomic swaps',
    change: inTwoSteps((from) => from === null),
  },
  'read, then write, of what is there': {
    check: 'atomic swaps',
    seen: /^two swaps from one text .* were both answered true$/,
    change: inTwoSteps((from) => from !== null),
  },
  'the first gets an answer, and the last is kept': {
    check: 'atomic swaps',
    seen: /^one client created a record and was answered true, and the record is /,
    change: (store, { ask }) => ({
      async swap(group, name, ...rest) {
        const answer = await store.swap(group, name, ...rest)
        if (!answer && group.endsWith(' claims')) await ask('put', group, name, rest[1])
        return answer
      },
    }),
  },
  'a contested record is never created': {
    check: 'atomic swaps',
    seen: /^8 clients tried to create one absent record, and it is still absent$/,
    change: (store) => ({
      swap: async (group, ...rest) => !group.endsWith(' claims') && store.swap(group, ...rest),
    }),
  },
  'a race without a winner': {
    check: 'atomic swaps',
    seen: /^no swap of 8 clients was answered true: swap\(\) of the store failed: too many clients$/,
    change: (store) => ({
      async swap(group, name, from, ...rest) {
        if (group.endsWith(' race') && from !== null) throw new Error('too many clients')
        return store.swap(group, name, from, ...rest)
      },
    }),
  },
  'no answer in a race': {
    check: 'atomic swaps',
    seen: /^swap\(\) of the store failed: no answer within 9000 ms, with 8 clients$/,
    change: (store) => ({
      swap: (group, name, from, ...rest) =>
        group.endsWith(' race') && from !== null ? new Promise(() => {}) : store.swap(group, name, from, ...rest),
    }),
  },
  'a read for each name': {
    check: 'snapshots',
    size: { snapshotMs: 2000 },
    change: inParts((names) => [names.slice(0, 1), names.slice(1, 2), names.slice(2)], 50),
  },
  'a read in parts': {
    check: 'snapshots',
    size: { snapshotMs: 2000 },
    change: inParts((names) => [names.slice(0, 100), names.slice(100)], 50),
  },
  'the group read apart from the slots': {
    check: 'snapshots',
    seen: /^a read of \d+ names returned text \d+ of 'slot0000000000' with text \d+ of 'group'; /,
    change: (store) => ({
      async read(group, names) {
        const isGroup = (name) => !name.startsWith('slot')
        const first = await store.read(group, names.filter(isGroup))
        const rest = await store.read(
          group,
          names.filter((name) => !isGroup(name)),
        )
        return { ...rest, values: names.map((name) => (isGroup(name) ? first : rest).values.shift()) }
      },
    }),
  },
  'a read of a thousand names, and then of the rest': {
    check: 'snapshots',
    change: inParts((names) => [names.slice(0, 1050), names.slice(1050)]),
  },
  'the clock, and then the records': {
    check: 'snapshots',
    seen: /^a read returned a now that is \d+ ms older .*, when its process was suspended for \d+ ms after each answer/,
    change: (store) => ({
      async read(group, names) {
        const { now } = await store.read(group, [])
        return { ...(await store.read(group, names)), now }
      },
    }),
  },
}
