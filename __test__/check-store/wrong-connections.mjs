// Stores that are wrong because of what a client keeps or holds: its machine's clock and name, values read when it
// connected, a lock. wrong.mjs opens these too.

import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSame } from './right.mjs'

/** Runs everything while holding the lock of these records; `untilMs`: how long the lock of a silent holder counts. */
const locking = (store, ask, { nameOf, untilMs }) =>
  async function swap(group, name, from, to, identity) {
    const [locks, lock] = [`${group} locks`, nameOf(name)]
    for (;;) {
      const answer = await store.read(locks, [lock])
      const [held] = answer.values
      const until = answer.now + untilMs
      if (Number(held) < answer.now && (await store.swap(locks, lock, held, String(until), answer.identity))) break
      await sleep(20)
    }
    const now = await store.read(group, [name])
    const isRight = now.values[0] === from && isSame(now.identity, identity)
    if (isRight) await ask('put', group, name, to)
    await ask('put', locks, lock, '0')
    return isRight
  }

/**
 * Only the records that processes swap while they are paused: on a busy machine a lock may expire in any other check.
 */
const whileSuspended = (store, swap) => ({
  swap: (group, ...rest) => (group.endsWith(' suspended') ? swap(group, ...rest) : store.swap(group, ...rest)),
})

const ends = []

export const CONNECTIONS = {
  'clock of the client': {
    check: 'clock',
    seen: /^now went forward by 2\d{4} ms in \d+ ms, when the clock of the client's machine was set ahead by 20000 ms$/,
    change: (store) => ({ read: async (...args) => ({ ...(await store.read(...args)), now: Date.now() }) }),
  },
  'clock of the client, set by the server once': {
    check: 'clock',
    seen: /^now went forward by 2\d{4} ms in \d+ ms, when the clock of the client's machine was set ahead by 20000 ms$/,
    change(store) {
      let aheadMs
      return {
        async read(...args) {
          const answer = await store.read(...args)
          aheadMs ??= answer.now - performance.now()
          return { ...answer, now: Math.round(performance.now() + aheadMs) }
        },
      }
    },
  },
  'identity of the client’s machine': {
    check: 'identity',
    seen: /flakeforge-check-another-machine/,
    change: (store) => ({
      async read(...args) {
        const answer = await store.read(...args)
        return { ...answer, identity: { ...answer.identity, history: hostname() } }
      },
      async swap(group, name, from, to, { history, process }) {
        const { identity } = await store.read(group, [name])
        return history === hostname() && store.swap(group, name, from, to, { ...identity, process })
      },
    }),
  },
  'identity that changes with the data': {
    check: 'same identity',
    seen: /^in \d+ s, reads of group .* returned \d+ identities, such as .* and /,
    change: (store) => ({
      async read(...args) {
        const answer = await store.read(...args)
        const { history, process } = answer.identity
        return { ...answer, identity: { history, process: `${process} ${Math.floor(answer.position / 50)}` } }
      },
      swap: (group, name, from, to, { history, process }) =>
        store.swap(group, name, from, to, { history, process: process.replace(/ \d+$/, '') }),
    }),
  },
  'identity that a client read when it connected': {
    check: 'loss',
    lose: 'wipe',
    seen: /^after wipe\(\), a client that was open before reads .*, and a new one /,
    change(store, { ask }) {
      const known = store.read('any', []).then(({ identity }) => identity)
      return {
        read: async (...args) => ({ ...(await store.read(...args)), identity: await known }),
        swap: async (group, name, from, to, identity) =>
          isSame(identity, await known) && ask('swapAny', group, name, from, to),
      }
    },
  },
  'swap compares with what a client read when it connected': {
    check: 'loss',
    lose: 'wipe',
    seen: /^after wipe\(\), a swap with the identity from before was answered true to a client that was open before$/,
    change(store, { ask }) {
      const known = store.read('any', []).then(({ identity }) => identity)
      return {
        swap: async (group, name, from, to, identity) =>
          isSame(identity, await known)
            ? ask('swapAny', group, name, from, to)
            : store.swap(group, name, from, to, identity),
      }
    },
  },
  'identity compared before the write': {
    check: 'loss',
    lose: 'wipe',
    seen: /^a swap that began before wipe\(\), with the identity of that time, was answered true and written after it$/,
    change: (store, { ask }) => ({
      async swap(group, name, from, to, identity) {
        const now = await store.read(group, [])
        return isSame(now.identity, identity) && ask('swapAny', group, name, from, to)
      },
    }),
  },
  'a lock that expires': {
    check: 'suspended',
    seen: /^two swaps from one text .*, one of a process that was suspended in the middle of it, were both answered true$/,
    change: (store, { ask }) => whileSuspended(store, locking(store, ask, { nameOf: (name) => name, untilMs: 300 })),
  },
  'a lock that never expires': {
    check: 'suspended',
    seen: /^while processes were suspended in the middle of swaps, a swap of another record failed: swap\(\) did not answer/,
    size: { callMs: 5000, haltMs: 9000 },
    change: (store, { ask }) => whileSuspended(store, locking(store, ask, { nameOf: () => 'group', untilMs: 1e9 })),
  },
  'what cannot be read is absent': {
    check: 'suspended',
    seen: /^a read in a process that had been suspended returned null for a record that is /,
    change: (store) => ({
      async read(group, names) {
        const late = AbortSignal.timeout(group.endsWith(' suspended') ? 1000 : 60_000)
        const isLate = new Promise((resolve) => late.addEventListener('abort', () => resolve()))
        const answer = await Promise.race([store.read(group, names), isLate])
        return answer ?? { ...(await store.read(group, [])), values: names.map(() => null) }
      },
    }),
  },
  'close ends the clients of others': {
    check: 'close',
    seen: /^after close\(\) of one client, another one of its process cannot read: /,
    size: { callMs: 5000 },
    change(_, { end }) {
      ends.push(end)
      return {
        async close() {
          for (const each of ends) each()
        },
      }
    },
  },
}
