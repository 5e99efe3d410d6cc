// FlakeError: every error that users get is one, with the documented fields for its code, whatever copy, format or
// version of flakeforge created it. It is still a TypeError or a RangeError.

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import test from 'ava'
import FlakeId, { FlakeError, format, Layout } from 'flakeforge'
import * as codec from 'flakeforge/codec'
import * as lease from 'flakeforge/lease'
import * as remote from 'flakeforge/remote'
import { fixed, manualClock, SOME_TIME, useUp } from '../support/index.mjs'
import { joined, tryJoin } from '../support/lease.mjs'
import { LEASE, MemoryStore } from '../support/store.mjs'

const require = createRequire(import.meta.url)
const rooms = require('../../target/rooms/lib/base/errors/flake-error.js')
const { nativeFailure } = require('../../target/rooms/lib/native/failure.js')
const web = await import('../../dist/web/index.js')

const thrownBy = async (call) => {
  try {
    return await call()
  } catch (error) {
    return error
  }
}

/** A member whose store fails for longer than its window lasts. */
async function expired(t) {
  const { flake, store } = await joined(t)
  store.fail()
  await sleep(LEASE.ttlMs + 300)
  return flake.next()
}

/** A member that has done this, when it is asked for an ID. */
async function after(t, what) {
  const { flake } = await joined(t)
  await flake[what]()
  return flake.next()
}

/** The error of another member of the group. */
async function second(t, options, change = () => {}) {
  const { store, options: ofFirst } = await joined(t, { slots: 1 })
  change(store)
  return tryJoin(store, { ...ofFirst, waitMs: 0, ...options })
}

/** A member that asks for an ID of a time in which an earlier group may have made it. */
async function usedBefore(t) {
  const store = Object.assign(new MemoryStore(), { usedUntil: async () => SOME_TIME })
  const { flake } = await joined(t, { backfill: 1, durable: true }, store)
  return flake.nextAt(SOME_TIME)
}

const unreadable = {
  read: async (_group, names) => ({
    now: Date.now(),
    identity: { history: 'a', process: '' },
    values: names.map(() => 'x'),
  }),
  swap: async () => false,
  names: async () => ['group'],
}

const fetched = (status, body) => ({
  name: 'orders',
  waitMs: 0,
  fetch: async () =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/problem+json' } }),
})
const connect = (...answer) => remote.RemoteFlakeId.connect('http://localhost', fetched(...answer))

/** By code: a call that fails with it, and the class of the error before FlakeError existed. */
const CAUSES = {
  ERR_FLAKE_OPTION: [() => new FlakeId({ worker: 32 }), RangeError],
  ERR_FLAKE_OVERFLOW: [() => useUpAndOne(fixed({ worker: 3 })), Error],
  ERR_FLAKE_CLOCK_BACKWARDS: [backwards, Error],
  ERR_FLAKE_TIME_RANGE: [() => fixed({ clock: () => -1 }).next(), RangeError],
  ERR_FLAKE_BACKFILL: [usedBefore, RangeError],
  ERR_FLAKE_ID: [() => format('nothing'), TypeError],
  ERR_FLAKE_CONFIG_MISMATCH: [(t) => second(t, { ttlMs: 9000 }), Error],
  ERR_FLAKE_FILE: [() => new FlakeId({ shared: '/dev/null/ids' }), Error],
  ERR_FLAKE_LEASE_EXPIRED: [expired, Error],
  ERR_FLAKE_DETACHED: [(t) => after(t, 'detach'), Error],
  ERR_FLAKE_DESTROYED: [(t) => after(t, 'destroy'), Error],
  ERR_FLAKE_EXHAUSTED: [(t) => second(t), Error],
  ERR_FLAKE_QUIET: [
    (t) => second(t, {}, (store) => Object.assign(store.group(), { quietUntil: Date.now() + 1e6 })),
    Error,
  ],
  ERR_FLAKE_CLOCK_SKEW: [() => tryJoin(new MemoryStore({ offsetMs: 5000 }), { ...LEASE, waitMs: 0 }), Error],
  ERR_FLAKE_STORE: [(t) => second(t, {}, (store) => store.fail()), Error],
  ERR_FLAKE_RECORD: [() => tryJoin(lease.recordStore(unreadable), { group: 'orders', waitMs: 0 }), Error],
  ERR_FLAKE_REMOTE: [() => connect(503, { code: 'ERR_FLAKE_BUSY', retryAfterMs: 5 }), Error],
  ERR_FLAKE_REPLAY: [replayed, Error],
  ERR_FLAKE_LOAD: [() => nativeFailure(new Error('no addon here')), Error],
}

/** IDs without the nonce of their request. */
function replayed() {
  const headers = { 'content-type': 'application/octet-stream' }
  const fetch = async () => new Response(Buffer.alloc(800), { headers })
  return remote.RemoteFlakeId.connect('http://localhost', { name: 'orders', waitMs: 0, fetch })
}

function useUpAndOne(flake) {
  useUp(flake)
  return flake.next()
}

function backwards() {
  const clock = manualClock()
  const flake = fixed({ clock, worker: 4 })
  flake.next()
  clock.now -= 1000
  return flake.next()
}

/** The rows of the table in the documents: the fields of each code. */
function promised() {
  const root = new URL('../../', import.meta.url)
  const guides = readdirSync(new URL('docs', root), { recursive: true }).filter((file) => file.endsWith('.md'))
  const texts = ['README.md', ...guides.map((file) => `docs/${file}`)].map((file) =>
    readFileSync(new URL(file, root), 'utf8'),
  )
  const rows = texts.join('\n').matchAll(/^\| `(ERR_FLAKE_\w+)` \|.*\| (.*) \|$/gm)
  return Object.fromEntries(Array.from(rows, ([, code, fields]) => [code, fields.match(/\w+/g)]))
}

test('the causes above cover every code in the documents', (t) => {
  t.deepEqual(Object.keys(CAUSES).sort(), Object.keys(promised()).sort())
})

for (const [code, [call, Type]] of Object.entries(CAUSES)) {
  test.serial(`${code} is a FlakeError, with the documented fields`, async (t) => {
    const error = await thrownBy(() => call(t))
    t.is(error.code, code, inspect(error))
    t.true(error instanceof FlakeError)
    t.true(error instanceof rooms.FlakeError, 'of another copy too')
    t.is(Object.getPrototypeOf(error), Type.prototype)
    const { [code]: fields } = promised()
    for (const field of fields) t.true(field in error, field)
    t.notRegex(inspect(error), /Symbol/)
  })
}

test("a server's refusal has its code", async (t) => {
  const error = await thrownBy(() => connect(404, { code: 'ERR_FLAKE_NAME' }))
  t.true(error instanceof FlakeError)
  t.like(error, { code: 'ERR_FLAKE_NAME', server: 'http://localhost/', status: 404 })
})

test('errors of the addon are FlakeErrors', (t) => {
  const biguintFormat = require('flakeforge/biguint-format') // which gets parts of the ES modules, loaded above
  const error = t.throws(() => biguintFormat(Buffer.alloc(2 ** 26 + 1)), { code: 'ERR_FLAKE_ID' })
  t.true(error instanceof FlakeError && error instanceof TypeError)
})

test('no other value is one', (t) => {
  const others = [null, undefined, 5, '', {}, new Error('x'), Object.assign(new Error('x'), { code: 'ERR_FLAKE_ID' })]
  for (const other of [...others, FlakeError, FlakeError.prototype])
    t.false(other instanceof FlakeError, inspect(other))
})

test('all entries, required and imported, have the same class', (t) => {
  for (const entry of ['flakeforge', 'flakeforge/codec', 'flakeforge/lease', 'flakeforge/remote'])
    t.is(require(entry).FlakeError, FlakeError, entry)
  for (const entry of [codec, lease, remote]) t.is(entry.FlakeError, FlakeError)
})

test("a browser's errors are FlakeErrors, and its class recognises those of Node.js", async (t) => {
  t.not(web.FlakeError, FlakeError)
  const ofCodec = [
    () => new web.Layout('flaky'),
    () => web.toBigInt(-1),
    () => web.layouts.flake.encode({ timestamp: -1 }),
  ]
  for (const call of [...ofCodec, () => web.FlakeId.join(), () => new web.Seal(), () => new Layout('flaky')]) {
    const error = await thrownBy(call)
    t.deepEqual([error instanceof web.FlakeError, error instanceof FlakeError], [true, true], inspect(error))
  }
})
