// Every function and method that users can call, with values of every wrong kind in place of each argument: each is accepted
// because the table says so, or refused by an error with a stable code that names the value. A new export or method needs a row.

import { inspect } from 'node:util'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import * as prometheus from '@prometheus-io/client'
import test from 'ava'
import * as codec from 'flakeforge/codec'
import * as metrics from 'flakeforge/metrics'
import { RemoteFlakeId } from 'flakeforge/remote'
import { connect, makeIds, startScripted } from '../remote/scripted-server.mjs'
import { FlakeId, lease } from '../support/index.mjs'
import { joined, leaseOptions } from '../support/lease.mjs'
import { Counters, opened } from '../support/segment.mjs'
import { MemoryStore } from '../support/store.mjs'

const main = await import('flakeforge')
const web = await import('../../dist/web/index.js')

const TEXT = 'ord_0000000000005'
const UUID = FlakeId.layouts.flake.toUuid(5n)

/** By kind. None is a valid option of any call by chance. */
const VALUES = {
  undefined: undefined,
  null: null,
  boolean: true,
  number: 5,
  negative: -5,
  fraction: 1.5,
  NaN: Number.NaN,
  infinite: Number.POSITIVE_INFINITY,
  bigint: 5n,
  decimal: '5',
  word: 'x%y',
  empty: '',
  object: {},
  bare: Object.create(null),
  array: [],
  symbol: Symbol('s'),
  function: () => 'x',
  date: new Date(1_700_000_000_000),
  map: new Map(),
  promise: Promise.resolve({}),
  buffer: Buffer.alloc(3),
  named: JSON.parse('{"constructor":{"name":{"toString":1}}}'),
  proxy: new Proxy({}, { get: () => Symbol('x') }),
}

const words = (text) => text.split(' ').filter(Boolean)

// What is accepted in place of an argument, by kind.
const ABSENT = 'undefined null'
const OPTIONS = `${ABSENT} object bare proxy`
const ID = 'number bigint decimal'
const BASE = `${ABSENT} empty` // '' is decimal, as in biguint-format, which format() replaces
const COUNT = 'number'
const CALLBACK = `${ABSENT} function`
const ANYTHING = Object.keys(VALUES).join(' ')

const opts = { prefix: 'ord_' }

/** The calls of a generator: valid arguments, and what is accepted in place of each. `calls` are those of its class. */
const CALLS = {
  next: [[undefined], CALLBACK],
  nextBigInt: [[]],
  nextNumber: [[]],
  nextString: [['dec', opts], BASE, OPTIONS],
  nextAsync: [[{}], OPTIONS],
  take: [[3], COUNT],
  takeBigInts: [[3], COUNT],
  takeNumbers: [[3], COUNT],
  takeStrings: [[3, 'dec', opts], COUNT, BASE, OPTIONS],
  takeAsync: [[3, {}], COUNT, OPTIONS],
  ids: [[{}], OPTIONS],
  decode: [[5n], ID],
}

/** What each of them is called in Node's EventEmitter, whose errors they have. */
const EMITTER = {
  ...Object.fromEntries(
    words('on addListener prependListener once prependOnceListener off removeListener').map((name) => [
      name,
      [['lost', () => {}], '', 'function'],
    ]),
  ),
  listeners: [['lost'], ''],
  rawListeners: [['lost'], ''],
  listenerCount: [['lost'], ''],
  removeAllListeners: [['lost'], ''],
  emit: [['renewed', {}], '', ANYTHING],
  eventNames: [[]],
  setMaxListeners: [[20], 'number fraction infinite'],
  getMaxListeners: [[]],
}

const order = FlakeId.idType('ord')
const seal = new FlakeId.Seal(Buffer.alloc(16), {})
const sealed = seal.sealString(5n)

const SEAL = {
  seal: [[5n], ID],
  sealBigInt: [[5n], ID],
  sealString: [[5n, 'base58'], ID, ABSENT],
  sealAll: [[Buffer.alloc(8)], ''],
  open: [[5n], ID],
  openBigInt: [[5n], ID],
  openString: [[sealed, 'base58'], '', ABSENT],
  openAll: [[Buffer.alloc(8)], ''],
}

const LAYOUT = {
  decode: [[5n], ID],
  encode: [[{ tick: 5n }], ''],
  range: [[1_700_000_000_000, 1_700_000_000_000], 'number negative fraction bigint date', `${ABSENT} date`],
  toUuid: [[5n], ID],
  fromUuid: [[UUID], ''],
}

const IDS = {
  toBigInt: [[5n], ID],
  toSigned: [[5n], ID],
  fromSigned: [[5n], 'bigint decimal'],
  compare: [[5n, 6n], ID, ID],
  format: [[5n, 'dec', {}], `${ID} buffer`, BASE, OPTIONS],
  parse: [['5', 'dec', {}], 'decimal', BASE, OPTIONS],
  isId: [[5n, 'dec'], ANYTHING, ANYTHING],
  idType: [['ord', {}], '', OPTIONS],
}

const JSONS = {
  jsonReplacer: [['key', 5n], ANYTHING, ANYTHING],
  jsonReviver: [[['id']], Number.parseInt(process.versions.node, 10) > 20 ? 'undefined' : ''],
}

const KINDS = {
  next: [[new FlakeId({ id: 5 })], ''],
  from: [[5n], ID],
  parse: [[TEXT], ''],
  is: [[TEXT], ANYTHING],
  toBigInt: [[TEXT], ''],
}

const sync = (object, calls) => ({ of: () => object, calls })
const constructed = (Class, ...given) => ({
  of: () => ({ new: (...args) => new Class(...args) }),
  calls: { new: given },
})

const without = (...names) => Object.fromEntries(Object.entries(CALLS).filter(([name]) => !names.includes(name)))

const SUBJECTS = {
  'new FlakeId': constructed(FlakeId, [{}], OPTIONS),
  FlakeId: sync(new FlakeId({ layout: 'safe' }), CALLS),
  'new Layout': constructed(FlakeId.Layout, ['flake', {}], '', OPTIONS),
  Layout: sync(FlakeId.layouts.flake, LAYOUT),
  'Layout chronicle': sync(FlakeId.layouts.chronicle, {
    ...LAYOUT,
    fromUuid: [[FlakeId.layouts.chronicle.toUuid(5n)], ''],
    toText: [[5n], ID],
    fromText: [['2021-12-28T14:07:02.954100128'], ''],
  }),
  'new Seal': constructed(FlakeId.Seal, [Buffer.alloc(16), {}], '', OPTIONS),
  Seal: sync(seal, SEAL),
  'functions of flakeforge': sync(main, { ...IDS, ...JSONS }),
  'functions of flakeforge/codec': sync(codec, IDS),
  'functions for browsers': sync(web, { ...IDS, ...JSONS }),
  idType: sync(order, KINDS),
  'idType with a layout': sync(FlakeId.idType('ord', { layout: 'flake' }), KINDS),
  'idType with a seal': sync(FlakeId.idType('ord', { seal: new FlakeId.Seal(Buffer.alloc(16), opts) }), {
    ...KINDS,
    parse: [[new FlakeId.Seal(Buffer.alloc(16), opts).sealString(5n)], ''],
    toBigInt: [[new FlakeId.Seal(Buffer.alloc(16), opts).sealString(5n)], ''],
  }),
  'idType for browsers': sync(web.idType('ord'), KINDS),
}

/** A store's record of IDs of the past. */
const PAST = { usedUntil: async () => undefined, past: async () => ({ number: 0n }) }

/** A server's answer without a server. */
const ANSWERED = { name: 'orders', waitMs: 0, fetch: giveOne }

async function giveOne(_url, { headers }) {
  const nonce = new Headers(headers).get('flakeforge-nonce')
  return new Response(makeIds(100), {
    headers: { 'content-type': 'application/octet-stream', 'flakeforge-nonce': nonce },
  })
}

/** What the classes have that wait for a store or a server. A call that ends them has no arguments. */
const OTHERS = {
  LeasedFlakeId: {
    of: async (t) =>
      (
        await joined(
          t,
          { backfill: 4, durable: true, maxWaitMs: 2000, ttlMs: 60_000 },
          Object.assign(new MemoryStore(), PAST),
        )
      ).flake,
    calls: {
      ...without('nextNumber', 'takeNumbers'),
      ...EMITTER,
      attach: [[{}], OPTIONS],
      nextAt: [[1_700_000_000_000], 'date'],
    },
  },
  SegmentId: {
    of: async (t) => (await opened(t)).segment,
    calls: {
      ...without('decode', 'nextNumber', 'takeNumbers'),
      init: [[5n], 'number bigint'],
      skipTo: [[5n], 'number bigint'],
    },
  },
  RemoteFlakeId: {
    of: async (t) => connect(t, await startScripted(t)),
    calls: without('decode', 'nextNumber', 'takeNumbers'),
  },
  'RemoteFlakeId.connect': {
    of: async () => ({ connect: async (...args) => (await RemoteFlakeId.connect(...args)).close() }),
    calls: { connect: [['http://127.0.0.1:1', ANSWERED], '', ''] },
  },
  'FlakeId.join and createGroup': {
    of: () => ({
      join: async (...args) => (await FlakeId.join(...args)).close(),
      createGroup: FlakeId.createGroup,
    }),
    calls: {
      join: [[new MemoryStore(), leaseOptions()], '', OPTIONS],
      createGroup: [[new MemoryStore(), leaseOptions()], '', OPTIONS],
    },
  },
  'SegmentId.open': {
    of: () => ({ open: async (...args) => (await lease.SegmentId.open(...args)).close() }),
    calls: { open: [[new Counters(), { name: 'a' }], '', ''] },
  },
  'functions of flakeforge/metrics': {
    of: () => metrics,
    calls: {
      prometheusMetrics: [[prometheus, new prometheus.Registry()], '', ABSENT],
      openTelemetryMetrics: [[new MeterProvider().getMeter('flakeforge')], ''],
    },
  },
}

/** The valid arguments, with another value in place of one of them. */
const replaced = (args, i, value) => args.map((each, at) => (at === i ? value : each))

async function outcome(call) {
  try {
    await call()
    return undefined
  } catch (error) {
    return error
  }
}

const isOurs = (error) => /^ERR_FLAKE_(?:OPTION|ID|TIME_RANGE)$/.test(error?.code)
/** Node's own, which has no text for the object `named`. */
const isNodes = (error) => error instanceof TypeError || error instanceof RangeError

/** An error that names the argument, or what is wrong with it, and never a wrong place in our code. */
async function check(t, subject, name, [args, ...accepted]) {
  const object = await subject.of(t)
  t.is(accepted.length, args.length, `${name} has a row for each argument`)
  t.is(await outcome(() => object[name](...args)), undefined, `${name} with valid arguments`)
  for (const [i, allowed] of accepted.entries()) {
    const taken = []
    for (const [kind, value] of Object.entries(VALUES)) {
      const error = await outcome(() => object[name](...replaced(args, i, value)))
      // Options were read where those of the group differ from them.
      if (error === undefined || error.code === 'ERR_FLAKE_CONFIG_MISMATCH') taken.push(kind)
      else
        t.true(
          isOurs(error) || (name in EMITTER && isNodes(error)),
          `${name}, argument ${i}, ${kind}: ${inspect(error)}`,
        )
    }
    t.deepEqual(taken.sort(), words(allowed).sort(), `${name}, argument ${i}: what is accepted`)
  }
}

for (const [what, subject] of Object.entries({ ...SUBJECTS, ...OTHERS }))
  for (const [name, row] of Object.entries(subject.calls))
    if (row[0].length > 0) test(`${what}: ${name}`, (t) => check(t, subject, name, row))

/** They have no arguments, or Node and JSON call them. */
const BARE = words('constructor close detach destroy toJSON')

test('every method and every function has a row', (t) => {
  const rows = new Set(Object.values({ ...SUBJECTS, ...OTHERS }).flatMap(({ calls }) => Object.keys(calls)))
  const { FlakeId: Plain, Layout, Seal } = FlakeId
  for (const Class of [Plain, lease.LeasedFlakeId, lease.SegmentId, RemoteFlakeId, Layout, Seal])
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(Class.prototype)))
      if (typeof value === 'function') t.true(rows.has(name) || BARE.includes(name), `${Class.name}.${name}`)
  for (const name of Object.keys(order)) t.true(rows.has(name) || typeof order[name] !== 'function', name)
  for (const exported of [main, codec, metrics])
    for (const [name, value] of Object.entries(exported))
      t.true(rows.has(name) || typeof value !== 'function' || /^[A-Z]|^default$|^module/.test(name), name)
})
