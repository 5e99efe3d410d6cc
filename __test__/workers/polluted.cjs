'use strict'

// Calls everything that takes options while Object.prototype has one of their names.
//
// Without an argument, prints JSON: the calls whose outcome differs from that without the name, as [call, name, value,
// outcome, expected]. With `first [NAME FORM]…`, does each call once, all of them while the prototype has these names, and
// prints the outcomes: what is made at the first call and kept may be polluted too. Without names, these are the right
// outcomes.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const FlakeId = require('../..')
const lease = require('../../dist/lease.cjs')
const { RemoteFlakeId } = require('../../dist/remote.cjs')
const biguintFormat = require('../../dist/biguint-format.cjs')

const { Layout, layouts, Seal, format, parse, createGroup } = FlakeId
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-polluted-'))
const TIME = 1_700_000_000_000
const clock = () => TIME

const GENERAL = [
  'layout',
  'epoch',
  'seqMask',
  'counterStart',
  'nodeOffset',
  'maxAheadMs',
  'maxWaitMs',
  'prefetch',
  'idOffset',
  'nodes',
  'mode',
  'id',
  'clock',
  'shared',
  'datacenter',
  'worker',
  'node',
  'shard',
  'machine',
  'process',
]
const LEASE = ['group', 'slots', 'ttlMs', 'skewMs', 'durable', 'waitMs', 'host', 'signal', 'elseFrom']
const REMOTE = ['name', 'prefetch', 'validityMs', 'timeoutMs', 'waitMs', 'token', 'fetch', 'signal', 'urls']

/** A server that rejects requests, and records them. */
const refusing = async (url, { headers = {} } = {}) => {
  throw new Error(`asked ${url} ${Object.keys(headers).filter((name) => /authorization/i.test(name))}`)
}

/** Whether the flake makes IDs of this time; its layout is not asked, because it may be polluted too. */
const isPresent = (flake) => Math.abs(Number(flake.nextBigInt() >> 22n) - Date.now()) < 60_000
const facts = (flake) => [flake.id, flake.layout.name, flake.epoch, isPresent(flake), isPresent(flake)]
const given = (options) => new FlakeId(options).take(2).toString('hex')
const close = async (opened, look) => {
  const made = await opened
  const seen = look(made)
  await made.close()
  return seen
}

/** Every call, with the names of its options. */
const CALLS = {
  'new FlakeId()': [GENERAL, () => facts(new FlakeId())],
  'new FlakeId({})': [GENERAL, () => facts(new FlakeId({}))],
  'new FlakeId({ id })': [GENERAL, () => facts(new FlakeId({ id: 3 }))],
  'new FlakeId({ clock })': [GENERAL, () => given({ clock })],
  'new FlakeId({ prefetch })': [['count', 'validityMs', ...GENERAL], () => given({ clock, prefetch: {} })],
  'new FlakeId(layout)': [
    ['name', 'tickMs', 'fields', ...GENERAL],
    () =>
      given({
        clock,
        layout: {
          fields: [
            ['timestamp', 41],
            ['shard', 13],
            ['counter', 10],
          ],
        },
      }),
  ],
  'new Layout(name)': [GENERAL, () => JSON.stringify(new Layout('flake', {}))],
  'new Layout(spec)': [
    ['name', 'tickMs', 'fields', 'epoch', 'nodes', 'mode', 'idOffset'],
    () =>
      JSON.stringify(
        new Layout({
          fields: [
            ['timestamp', 41],
            ['counter', 22],
          ],
        }),
      ),
  ],
  'encode()': [
    ['tick', 'timestamp', 'date', 'counter', 'id', 'datacenter', 'worker', 'mode'],
    () => layouts.flake.encode({ timestamp: TIME }).toString('hex'),
  ],
  'format()': [
    ['prefix', 'trim', 'groupsize', 'delimiter', 'size', 'padstr', 'format'],
    () => ['dec', 'hex', 'bin', 'oct'].map((base) => format(123456n, base, {})).join(),
  ],
  'parse()': [['prefix'], () => parse('1f', 'hex', {}).toString('hex')],
  'biguint-format': [
    ['prefix', 'trim', 'groupsize', 'delimiter', 'size', 'padstr', 'format'],
    () => ['dec', 'hex', 'bin', 'oct'].map((base) => biguintFormat(Buffer.from([1, 2, 3]), base, {})).join(),
  ],
  'new Seal()': [['tweak', 'prefix'], () => String(new Seal(Buffer.alloc(16), {}).seal(5n))],
  'new Seal(key)': [['tweak', 'prefix'], () => String(new Seal(Buffer.alloc(16)).seal(5n))],
  'nextAsync({})': [['signal'], async () => (await new FlakeId({ clock }).nextAsync({})).toString('hex')],
  'takeAsync({})': [['signal'], async () => (await new FlakeId({ clock }).takeAsync(2, {})).toString('hex')],
  'ids({})': [['signal'], async () => (await new FlakeId({ clock }).ids({}).next()).value.toString('hex')],
  'join(file)': [
    [...LEASE, ...GENERAL],
    () =>
      close(FlakeId.join(`file:${folder}/join`, { waitMs: 0 }), (flake) => [
        flake.slot > -1,
        flake.layout.name,
        isPresent(flake),
      ]),
  ],
  'join(file) again': [
    [...LEASE, ...GENERAL],
    () =>
      close(FlakeId.join(`file:${folder}/join`, { waitMs: 0, maxAheadMs: 5 }), (flake) => [
        isPresent(flake),
        flake.slot > -1,
      ]),
  ],
  'list(file)': [LEASE, async () => (await lease.fileStore(`${folder}/join`).list('default')).length > 0],
  shared: [GENERAL, () => isPresent(new FlakeId({ id: 9, shared: `${folder}/ids` }))],
  'takeBigInts()': [
    GENERAL,
    () => layouts.twitter.decode(new FlakeId({ layout: 'twitter', clock }).takeBigInts(20)[19]).counter,
  ],
  snowcast: [GENERAL, () => given({ layout: 'snowcast', nodes: 200, clock })],
  uniqueid: [GENERAL, () => given({ layout: 'uniqueid', clock, id: 5 })],
  chronicle: [GENERAL, () => given({ layout: 'chronicle', clock, id: 5 })],
  'decode()': [GENERAL, () => JSON.stringify(layouts.hazelcast.decode(1234567890123456789n))],
  'createGroup(file)': [[...LEASE, ...GENERAL], async () => typeof (await createGroup(`file:${folder}/made`, {}))],
  'join(elseFrom)': [
    REMOTE,
    () =>
      close(
        FlakeId.join(`file:${folder}/else`, { waitMs: 0, elseFrom: { urls: 'http://127.0.0.1:1', fetch: refusing } }),
        () => 'opened',
      ),
  ],
  'SegmentId.open(file)': [
    ['name', 'block', 'init', 'durable'],
    () => close(lease.SegmentId.open(`file:${folder}/segment`, { name: 'a' }), (ids) => ids.nextString() !== ''),
  ],
  'RemoteFlakeId.connect()': [
    REMOTE,
    () => RemoteFlakeId.connect('http://127.0.0.1:1', { name: 'a', waitMs: 0, fetch: refusing }),
  ],
  'etcdStore()': [
    ['endpoints', 'username', 'password', 'fetch'],
    () => lease.etcdStore({ endpoints: 'http://127.0.0.1:1', fetch: refusing }).list('a'),
  ],
}

const errorOf = ({ code, message, option, cause }) =>
  `${code} ${option} ${message} ${cause?.message ?? ''}`.replace(/[\d.]+ ms/g, 'MS')

async function outcomeOf(call) {
  try {
    return JSON.stringify(await call())
  } catch (error) {
    return errorOf(error)
  }
}

const VALUES = ['7', () => 1, { a: 1 }]

async function polluted(name, value, enumerable, call) {
  Object.defineProperty(Object.prototype, name, { value, enumerable, configurable: true, writable: true })
  try {
    return await outcomeOf(call)
  } finally {
    delete Object.prototype[name]
  }
}

/**
 * Puts a name on Object.prototype in one of several ways. Assignments still make own properties: nothing works where they do
 * not.
 */
const FORMS = {
  number: () => ({ value: 1_577_836_800_000, writable: true, enumerable: true }),
  text: () => ({ value: '7', writable: true }),
  function: () => ({ value: () => 1, writable: true }),
  getter: (name) => ({
    get: () => 1,
    set(value) {
      Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true })
    },
  }),
}

async function first(words) {
  const names = words.filter((_, i) => i % 2 === 0)
  const forms = words.filter((_, i) => i % 2 === 1)
  for (const [i, name] of names.entries())
    Object.defineProperty(Object.prototype, name, { ...FORMS[forms[i]](name), configurable: true })
  const outcomes = []
  for (const [title, [, call]] of Object.entries(CALLS)) outcomes.push([title, await outcomeOf(call)])
  for (const name of names) delete Object.prototype[name]
  print(outcomes)
}

function print(result) {
  fs.rmSync(folder, { recursive: true, force: true })
  fs.writeSync(1, JSON.stringify(result))
  process.exit() // clients of the calls that failed
}

async function main() {
  const differing = []
  let count = 0
  for (const [title, [names, call]] of Object.entries(CALLS)) {
    const expected = await outcomeOf(call)
    if (expected !== (await outcomeOf(call))) differing.push([title, 'unstable', expected])
    for (const name of new Set(names)) {
      for (const value of VALUES) {
        const outcome = await polluted(name, value, count++ % 2 === 0, call)
        if (outcome !== expected) differing.push([title, name, String(value), outcome, expected])
      }
    }
  }
  print({ count, differing })
}

const [mode, ...args] = process.argv.slice(2)
if (mode === 'first') first(args)
else main()
