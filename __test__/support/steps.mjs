// The steps of a store on a database, for tests of its clients and servers, with defaults for irrelevant arguments. It
// knows no database: it looks behind a store only through the store's own records.

import { setTimeout as sleep } from 'node:timers/promises'
import { edited, newOwner } from './records.mjs'

export const CONFIG = {
  fingerprint: 'f',
  slots: 8,
  ttlMs: 60_000,
  skewMs: 5000,
  durable: false,
  scale: 1,
}

/** Messages, from packages and from us, for an answer that did not come in time. */
export const LATE = /no answer within|did not finish a step within|timeout|timed out|does not answer/i
/** Of a later statement, which waits for that one. */
const WAITS = /may still run/
const PATIENCE_MS = 60_000

/**
 * The result of a call, which is repeated while the store does not answer it, as a lease does: a connection may have ended
 * with its server, and on a busy machine an answer may take longer than a call has.
 */
export async function untilAnswered(call) {
  for (const end = performance.now() + PATIENCE_MS; ; await sleep(50)) {
    try {
      return await call()
    } catch (error) {
      const isUnanswered = error.cause !== undefined || LATE.test(error.message) || WAITS.test(error.message)
      if (error.code !== 'ERR_FLAKE_STORE' || !isUnanswered || performance.now() > end) throw error
    }
  }
}

/** Calls on one group. */
export function stepsOf(store, group, options) {
  const config = { ...CONFIG, ...options }
  return {
    create: () => store.create(group, config),
    acquire: ({ owner = newOwner(), host = 'host', joins = false, ...more } = {}) =>
      store.acquire(group, { config: { ...config, ...more }, owner, host, joins }),
    renew: (slot, owner, { hi = 0, ...more } = {}) =>
      store.renew(group, { config: { ...config, ...more }, slot, owner, hi }),
    release: (slot, owner, last) => store.release(group, { config, slot, owner, last }),
    list: () => store.list(group),
    destroy: () => store.destroy(group),
  }
}

/** A new group that grants slots at once: its quiet period is ended by hand. */
export async function openGroup(store, group, options) {
  const steps = stepsOf(store, group, options)
  await steps.acquire({ joins: true }).catch((error) => {
    if (error.code !== 'ERR_FLAKE_QUIET') throw error
  })
  const { values, identity } = await store.records.read(group, ['group'])
  const text = edited(values[0], { quiet: 0 })
  if (!(await store.records.swap(group, 'group', values[0], text, identity))) throw new Error(`'${group}' is changing`)
  return steps
}

let groups = 0

/** Every step once, on a separate group: a client that can do this can do everything. */
export async function works(t, store) {
  groups += 1
  const group = `works ${groups}`
  const { create, acquire, renew, release, list, destroy } = await openGroup(store, group)
  t.false(await create(), 'it exists')
  const [owner, host] = [newOwner(), 'a host=1\nof two lines/ü 100 %41 \u{1f600}']
  const { slot, lo, hi } = await acquire({ owner, host })
  t.is(hi, lo + CONFIG.ttlMs)
  t.like(await renew(slot, owner), { slot, lo })
  t.like(await list(), [{ slot, owner, host, lo }])
  await release(slot, owner, lo)
  t.deepEqual(await list(), [{ slot, host, lo, hi: lo }])
  await destroy()
  await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_DESTROYED' })
  const first = 2n ** 60n + 1n
  t.is((await store.advance(group, 5n, first)).number, first)
  t.is((await store.advance(group, 1n, 0n)).number, first + 5n)
}
