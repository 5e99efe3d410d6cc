// Stores with one fault each. `FAULTS` names for each fault the check that must find it, and the functions that differ
// from the correct store's.

import { connection, rightStore } from './right.mjs'
import { CONNECTIONS } from './wrong-connections.mjs'
import { RACES } from './wrong-races.mjs'

const HOUR_MS = 3_600_000

/** A store that converts texts before it keeps and compares them. */
const folded = (fold) => (store) => ({
  swap: (group, name, from, to, identity) =>
    store.swap(group, name, from === null ? null : fold(from), fold(to), identity),
})

/** A store that treats different texts as equal, and keeps them unchanged. */
const matching = (isMatch) => (store) => ({
  async swap(group, name, from, to, identity) {
    const [value] = (await store.read(group, [name])).values
    const isEqual = from !== null && value !== null && isMatch(value, from)
    return store.swap(group, name, isEqual ? value : from, to, identity)
  },
})

/** A store that converts texts before it compares them. */
const comparing = (fold) => matching((value, from) => fold(value) === fold(from))

/** A store whose swap compares the current identity instead of the given one. */
const identifying = (change) => (store) => ({
  async swap(group, name, from, to, identity) {
    const known = (await store.read(group, [name])).identity
    return store.swap(group, name, from, to, change(identity, known))
  },
})

/** A store that also returns the names of other groups. */
const naming = (isOne) => (store) => ({
  async names(group) {
    const groups = (await store.groups()).filter((name) => isOne(group, name))
    return (await Promise.all(groups.map((name) => store.names(name)))).flat()
  },
})

/** A store that converts the names of its groups. */
const grouped = (fold) => (store) => ({
  read: (group, names) => store.read(fold(group), names),
  swap: (group, ...rest) => store.swap(fold(group), ...rest),
  names: (group) => store.names(fold(group)),
})

/** A store that returns something else from read. */
const reading = (change) => (store) => ({
  async read(group, names) {
    return change(await store.read(group, names), names)
  },
})

/** The names that SQL's LIKE finds with the group's name as a pattern. */
function like(pattern) {
  const source = pattern
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('%', '.*')
    .replaceAll('_', '.')
  return new RegExp(`^${source}$`, 's')
}

const times = () => {
  let calls = 0
  return (n) => ++calls % n === 0
}
const own = `${process.pid} ${Math.random()}`
const every = times()
let before

export const FAULTS = {
  'no function': { check: 'opens', open: 'none' },
  'no swap': { check: 'opens', change: () => ({ swap: undefined }) },
  'a client that throws': {
    check: 'opens',
    change() {
      throw new Error('no server at 127.0.0.1:1')
    },
  },
  'a separate database for each process': {
    check: 'one database',
    change: grouped((group) => `${group} of ${process.pid}`),
  },
  'clock in seconds': { check: 'clock', change: reading((a) => ({ ...a, now: Math.floor(a.now / 1000) })) },
  'clock in microseconds': { check: 'clock', change: reading((a) => ({ ...a, now: a.now * 1000 })) },
  'clock as text': { check: 'clock', change: reading((a) => ({ ...a, now: String(a.now) })) },
  'local time': { check: 'clock', change: reading((a) => ({ ...a, now: a.now + 2 * HOUR_MS })) },
  'clock that stands still': { check: 'clock', change: reading((a) => ({ ...a, now: a.started })) },
  'clock at half the pace': {
    check: 'clock',
    change: reading((a) => ({ ...a, now: a.now - Math.floor((a.now - a.started) / 2) })),
  },
  'no identity': { check: 'identity', change: reading((a) => ({ ...a, identity: undefined })) },
  'empty identity': { check: 'identity', change: reading((a) => ({ ...a, identity: { history: '', process: '' } })) },
  'identity of the client': {
    check: 'identity',
    change: (store) => ({
      async read(group, names) {
        const answer = await store.read(group, names)
        before = answer.identity
        return { ...answer, identity: { ...answer.identity, process: own } }
      },
      swap: (group, name, from, to, identity) =>
        store.swap(group, name, from, to, { ...before, history: identity.history }),
    }),
  },
  'swap does not look at history': {
    check: 'other identity',
    change: identifying((identity, { history }) => ({ ...identity, history })),
  },
  'swap does not look at process': {
    check: 'other identity',
    change: identifying((identity, { process }) => ({ ...identity, process })),
  },
  'an empty identity matches any': {
    check: 'other identity',
    change: identifying(({ history, process }, known) => ({
      history: history || known.history,
      process: process || known.process,
    })),
  },
  'identity compared by the update only, not by the insert': {
    check: 'other identity',
    seen: /^a swap of an absent record with another identity .* was answered true$/,
    change: (store, { ask }) => ({
      swap: (group, name, from, to, identity) =>
        from === null ? ask('swapAny', group, name, from, to) : store.swap(group, name, from, to, identity),
    }),
  },
  'an identity that is truncated matches': {
    check: 'other identity',
    change: identifying(({ history, process }) => ({ history: history.slice(0, 36), process: process.slice(0, 36) })),
  },
  'values in a different order': {
    check: 'values',
    change: (store) => ({ read: (group, names) => store.read(group, names.toSorted()) }),
  },
  'a record for everything that is not a slot': {
    check: 'values',
    seen: /^swap of 'group' in group .* from null was answered false 3 times; the record is "counter /,
    change(store) {
      const nameOf = (name) => (name.startsWith('slot') ? name : 'other')
      return {
        read: (group, names) => store.read(group, names.map(nameOf)),
        swap: (group, name, ...rest) => store.swap(group, nameOf(name), ...rest),
      }
    },
  },
  'undefined for absent records': {
    check: 'absent',
    change: reading((a) => ({ ...a, values: a.values.map((value) => value ?? undefined) })),
  },
  'empty text for absent records': {
    check: 'absent',
    change: reading((a) => ({ ...a, values: a.values.map((value) => value ?? '') })),
  },
  'absent records left out': {
    check: 'absent',
    change: reading((a) => ({ ...a, values: a.values.filter((value) => value !== null) })),
  },
  'swap answers with a count': {
    check: 'swap',
    change: (store) => ({ swap: async (...args) => Number(await store.swap(...args)) }),
  },
  'from null writes over what is there': {
    check: 'swap',
    change: (store, { ask }) => ({
      async swap(group, name, from, to, identity) {
        if (from !== null) return store.swap(group, name, from, to, identity)
        await ask('put', group, name, to)
        return true
      },
    }),
  },
  'true without a write, for existing records': {
    check: 'swap',
    seen: /^after a swap that was answered true, the record is /,
    change: (store) => ({
      async swap(group, name, from, ...rest) {
        if (from === null) return store.swap(group, name, from, ...rest)
        return (await store.read(group, [name])).values[0] === from
      },
    }),
  },
  'upper and lower case are equal': { check: 'bytes', change: comparing((text) => text.toLowerCase()) },
  'trailing spaces do not count': { check: 'bytes', change: comparing((text) => text.trimEnd()) },
  'accents do not count': {
    check: 'bytes',
    change: comparing((text) => text.normalize('NFD').replaceAll(/\p{M}/gu, '')),
  },
  'texts are patterns': {
    check: 'bytes',
    seen: /^a swap from "a%c" was answered true while the record was "abc"$/,
    change: matching((value, from) => like(from).test(value)),
  },
  'texts are normalised': { check: 'bytes', change: folded((text) => text.normalize('NFC')) },
  'only ASCII': { check: 'bytes', change: folded((text) => text.replaceAll(/[^\x20-\x7e]/gu, '?')) },
  'texts are truncated at 255': { check: 'length', change: folded((text) => text.slice(0, 255)) },
  'texts are truncated at 1000': { check: 'length', change: folded((text) => text.slice(0, 1000)) },
  'only the first 900 characters count': {
    check: 'length',
    seen: /^a swap was answered true although the record, of 1,000 bytes, differs from `from` in its last character$/,
    change: comparing((text) => text.slice(0, 900)),
  },
  'names of groups are truncated at 64': { check: 'group names', change: grouped((group) => group.slice(0, 64)) },
  'names of groups without case': { check: 'group names', change: grouped((group) => group.toLowerCase()) },
  'names of groups without trailing spaces': { check: 'group names', change: grouped((group) => group.trimEnd()) },
  'names by a pattern': {
    check: 'names',
    change: naming((group, name) => like(group).test(name)),
  },
  'names by a prefix': {
    check: 'names',
    change: naming((group, name) => name.startsWith(group)),
  },
  'names of all groups': {
    check: 'names',
    change: naming(() => true),
  },
  'groups without one': {
    check: 'groups',
    change: (store) => ({ groups: async () => (await store.groups()).slice(1) }),
  },
  'only one page of names': {
    check: 'many names',
    change: (store) => ({ names: async (group) => (await store.names(group)).slice(0, 10) }),
  },
  'only one page of values': {
    check: 'many names',
    change: reading((a) => ({ ...a, values: a.values.map((value, i) => (i < 100 ? value : null)) })),
  },
  'only the first 100 000 bytes of an answer': {
    check: 'many names',
    change: reading((a) => {
      let bytes = 0
      const isIn = (value) => {
        bytes += value?.length ?? 0
        return bytes <= 100_000
      }
      return { ...a, values: a.values.map((value) => (isIn(value) ? value : null)) }
    }),
  },
  'reads of many names from a replica': {
    check: 'fresh reads',
    seen: /^in round \d+, a read of 20 names by .* returned /,
    change(store) {
      const before = new Map()
      return {
        async read(group, names) {
          const answer = await store.read(group, names)
          if (names.length < 15) return answer
          const key = JSON.stringify([group, names])
          const { values } = before.get(key) ?? answer
          before.set(key, answer)
          return { ...answer, values }
        },
      }
    },
  },
  'reads from a cache': {
    check: 'fresh reads',
    change(store) {
      const cache = new Map()
      const isOld = times()
      return {
        async read(group, names) {
          const key = JSON.stringify([group, names])
          const answer = await store.read(group, names)
          if (!cache.has(key) || isOld(4)) cache.set(key, answer.values)
          return { ...answer, values: cache.get(key) }
        },
        swap(...args) {
          cache.clear()
          return store.swap(...args)
        },
      }
    },
  },
  'reads from a replica, except of what the client wrote': {
    check: 'fresh reads',
    change(store) {
      const seen = new Map()
      const written = new Set([null])
      const isBehind = times()
      return {
        async read(group, names) {
          const answer = await store.read(group, names)
          const key = JSON.stringify([group, names])
          const isOwn = answer.values.every((value) => written.has(value))
          const values = !isOwn && isBehind(5) ? (seen.get(key) ?? answer.values) : answer.values
          seen.set(key, answer.values)
          return { ...answer, values }
        },
        swap(group, name, from, to, identity) {
          written.add(to)
          return store.swap(group, name, from, to, identity)
        },
      }
    },
  },
  'position that falls': {
    check: 'position',
    change: reading((a) => ({ ...a, position: 1e6 - a.position })),
  },
  'position of more than 64 bits': {
    check: 'position',
    seen: /position/,
    change: reading((a) => ({ ...a, position: BigInt(a.now) * 2n ** 32n })),
  },
  'position below zero': {
    check: 'position',
    seen: /position/,
    change: reading((a) => ({ ...a, position: a.position - 1e6 })),
  },
  'position that stays': {
    check: 'position',
    seen: /^position stayed at 7 during \d+ swaps$/,
    change: reading((a) => ({ ...a, position: 7 })),
  },
  'position only at times': {
    check: 'position',
    seen: /^position was .* in one read and .* in another$/,
    change: reading((a) => ({ ...a, position: a.position % 2 === 0 ? a.position : undefined })),
  },
  ...RACES,
  ...CONNECTIONS,
  'a clock from before the records': {
    check: 'snapshots',
    change: reading((a, names) => ({ ...a, now: names.length > 100 ? a.now - 5000 : a.now })),
  },
  'true without a write, sometimes': {
    check: 'kept',
    change: (store) => ({
      swap: async (group, ...rest) => (group.endsWith(' kept') && every(7) ? true : store.swap(group, ...rest)),
    }),
  },
  'true before the write': {
    check: 'kept',
    change: (store) => ({
      async swap(group, ...rest) {
        if (!group.endsWith(' kept')) return store.swap(group, ...rest)
        setTimeout(() => store.swap(group, ...rest), 10_000).unref()
        return true
      },
    }),
  },
  'records that expire': {
    check: 'no expiry',
    size: { ageMs: 6000 },
    change: (store) => ({
      async read(group, names) {
        const answer = await store.read(group, names)
        if (!group.endsWith(' shared')) return answer
        const isThere = (text) => text !== null && answer.now < Number(text.split('#')[1])
        return { ...answer, values: answer.values.map((text) => (isThere(text) ? text.split('#')[0] : null)) }
      },
      swap(group, name, from, to, identity) {
        const text = group.endsWith(' shared') ? `${to}#${Date.now() + 2000}` : to
        return store.swap(group, name, from, text, identity)
      },
    }),
  },
  'close that ends nothing': { check: 'close', change: () => ({ close: async () => {} }) },
  'no close': { check: 'close', change: () => ({ close: undefined }) },
  'a process that fails after close': {
    check: 'close',
    seen: /^a process after close\(\) ended with 3$/,
    change: (store) => ({
      async close() {
        process.exitCode = 3
        await store.close()
      },
    }),
  },
  'a loss that does not show': { check: 'loss', change: () => ({}), lose: 'drop' },
  'a wipe that loses nothing': {
    check: 'loss',
    seen: /^after wipe\(\), nothing is gone and the identity is the same$/,
    change: () => ({}),
    lose: 'names',
  },
  'a swap from before the loss': {
    check: 'loss',
    seen: /^after wipe\(\), a swap with the identity from before was answered true$/,
    change: (store) => ({
      async swap(group, name, from, to, identity) {
        const isBlind = group.endsWith(' shared') && name === 'group'
        const known = isBlind ? (await store.read(group, [name])).identity : identity
        return store.swap(group, name, from, to, known)
      },
    }),
    lose: 'wipe',
  },
  'a read that never answers': {
    check: 'clock',
    change: () => ({ read: () => new Promise(() => {}) }),
    seen: /^read\(\) of the store failed: no answer within 9000 ms$/,
  },
  'a process that is blocked': {
    check: 'clock',
    change: () => ({
      read() {
        for (;;);
      },
    }),
    seen: /^read\(\) did not answer within 2\.5 s$/,
    size: { callMs: 500 },
  },
  'a process that crashes': {
    check: 'clock',
    change: () => ({
      read() {
        setImmediate(() => process.exit(3))
        return new Promise(() => {})
      },
    }),
  },
}

/** The default export for a fault. */
export const openWrong = (fault, port) =>
  FAULTS[fault].open === undefined
    ? async () => {
        const client = await connection(port)
        const store = rightStore(client)
        return { ...store, ...FAULTS[fault].change(store, client) }
      }
    : undefined

/** A wipe as the fault requires: 'drop' removes one record of each group, 'names' no record, 'wipe' all. */
export async function wipeAs(fault, port) {
  const { ask, end } = await connection(port)
  await ask(FAULTS[fault].lose, 'group')
  end()
}
