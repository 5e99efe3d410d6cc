'use strict'

// The measured pieces of work: for each, a call of ours or of another package. Each is measured in a separate process,
// which loads only what it needs.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const flakeforge = () => new (require('../..'))({ id: 5 })
const shared = () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-bench-'))
  process.on('exit', () => fs.rmSync(folder, { recursive: true }))
  return new (require('../..'))({ id: 5, shared: path.join(folder, 'cursor') })
}
/** The event loop does not turn during a measurement, so this block has to last for all of it. */
const segment = () =>
  require('flakeforge/lease').SegmentId.open(process.env.BENCH_STORE, { name: 'bench', block: 1_000_000_000 })
const flakeIdgen = () => new (require('flake-idgen'))({ id: 5 })
const pure = () => new (require('./plain-generator.js').PureFlake)({ id: 5 })

/** Decoding IDs of a layout, by us and by @sapphire/snowflake. */
const decodesOf = (name) => ({
  [`decode: flakeforge, ${name}`]: () => {
    const { layouts } = require('../..')
    const layout = layouts[name]
    return each(idsOf(layout), (id) => layout.decode(id))
  },
  [`decode: @sapphire/snowflake, ${name}`]: () => {
    const layout = require('../..').layouts[name]
    const snowflake = new (require('@sapphire/snowflake').Snowflake)(layout.epoch)
    return each(idsOf(layout), (id) => snowflake.deconstruct(id))
  },
})
const idsOf = (layout) =>
  many((i) => layout.encode({ timestamp: Date.now() + i, id: i, counter: i })).map((id) => id.readBigUInt64BE())
const many = (make) => Array.from({ length: 256 }, (_, i) => make(i))

/** Layouts whose arithmetic is not a matter of shifts. */
const codecOf = (name, partsAt) => ({
  [`decode: flakeforge, ${name}`]: () => {
    const layout = require('../..').layouts[name]
    const ids = many((i) => layout.encode(partsAt(i)).readBigUInt64BE())
    return each(ids, (id) => layout.decode(id))
  },
  [`encode: flakeforge, ${name}`]: () => {
    const layout = require('../..').layouts[name]
    return each(many(partsAt), (parts) => layout.encode(parts))
  },
})

/** Calls: `make()` returns the function to call. A burst is short enough not to use up a millisecond. */
const CALLS = {
  'next: flakeforge': () => {
    const generator = flakeforge()
    return () => generator.next()
  },
  'next: flake-idgen': () => {
    const generator = flakeIdgen()
    return () => generator.next()
  },
  'next: plain JS': () => {
    const generator = pure()
    return () => generator.next()
  },
  'next: @sapphire/snowflake': () => {
    const generator = new (require('@sapphire/snowflake').Snowflake)(0)
    return () => generator.generate()
  },
  'next: snowflake-uuid': () => {
    const generator = new (require('snowflake-uuid').Worker)(0, 1)
    return () => generator.nextId()
  },
  'next: bson ObjectId': () => {
    const { ObjectId } = require('bson')
    return () => new ObjectId()
  },
  'next: hyperid': () => require('hyperid')(),
  'next: uuid v7': () => require('uuid').v7,
  'next: nanoid': async () => (await import('nanoid')).nanoid,
  'next: crypto.randomUUID': () => require('node:crypto').randomUUID,
  'Date.now': () => Date.now,
  'new Date(ms).getTime()': () => {
    const first = Date.now()
    let i = 0
    return () => new Date(first + (i++ & 255)).getTime()
  },
  'new: flakeforge': () => made(require('../..')),
  'new, epoch: flakeforge': () => made(require('../..'), { epoch: EPOCH }),
  'new, id: flakeforge': () => made(require('../..'), { id: 7 }),
  'new, datacenter and worker: flakeforge': () => made(require('../..'), { datacenter: 3, worker: 7 }),
  'new: flake-idgen': () => made(require('flake-idgen')),
  'new, epoch: flake-idgen': () => made(require('flake-idgen'), { epoch: EPOCH }),
  'new, id: flake-idgen': () => made(require('flake-idgen'), { id: 7 }),
  'new, datacenter and worker: flake-idgen': () => made(require('flake-idgen'), { datacenter: 3, worker: 7 }),
  'take(8): flakeforge': () => calls(ahead(), 'take', 8),
  'takeBigInts(8): flakeforge': () => calls(ahead(), 'takeBigInts', 8),
  'takeBigInts(9): flakeforge': () => calls(ahead(), 'takeBigInts', 9),
  'nextBigInt: flakeforge': () => {
    const generator = flakeforge()
    return () => generator.nextBigInt()
  },
  'nextBigInt: flakeforge, safe': () => {
    const generator = safe()
    return () => generator.nextBigInt()
  },
  'nextNumber: flakeforge, safe': () => {
    const generator = safe()
    return () => generator.nextNumber()
  },
  'nextString: flakeforge': () => {
    const generator = flakeforge()
    return () => generator.nextString()
  },
  "nextString('base32'): flakeforge": () => texts('base32'),
  "nextString('base58'): flakeforge": () => texts('base58'),
  "nextString('base62'): flakeforge": () => texts('base62'),
  'nextString: flake-idgen': () => {
    const generator = flakeIdgen()
    const format = require('biguint-format')
    return () => format(generator.next(), 'dec')
  },
  'format: flakeforge': () => formatted(buffers(), 'dec'),
  'format, bigint: flakeforge': () => formatted(someIds(), 'dec'),
  'format, text: flakeforge': () => formatted(someTexts(), 'dec'),
  "format, bigint, 'base62': flakeforge": () => formatted(someIds(), 'base62'),
  'parse: flakeforge': () => each(someTexts(), require('../..').parse),
  'parse: plain JS': () => each(someTexts(), require('./plain-generator.js').parse),
  'format: biguint-format': () => formatted(buffers(), 'dec', require('biguint-format')),
  'format: flakeforge/biguint-format': () => formatted(buffers(), 'dec', require('flakeforge/biguint-format')),
  ...decodesOf('flake'),
  ...decodesOf('twitter'),
  ...decodesOf('discord'),
  ...codecOf('uniqueid', (i) => ({ timestamp: Date.now() + i, generator: i, cluster: 2, counter: i & 63 })),
  ...codecOf('chronicle', (i) => ({ timestamp: Date.now() + i, host: i % 100 })),
  'decode: plain JS': () => each(someIds(), require('./plain-generator.js').decode),
  'encode: flakeforge': () => {
    const { layouts } = require('../..')
    return each(someParts(), (parts) => layouts.flake.encode(parts))
  },
  'encode: plain JS': () => each(someParts(), require('./plain-generator.js').encode),
}

/** The same with the cursor in a file, or limited by a lease of the store that BENCH_STORE names; and its counters. */
const SCOPES = {
  'next: shared': () => {
    const generator = shared()
    return () => generator.next()
  },
  'next: leased': async () => {
    const generator = await require('../..').join(process.env.BENCH_STORE, { group: 'bench' })
    return () => generator.next()
  },
  'nextBigInt: SegmentId': async () => {
    const generator = await segment()
    return () => generator.nextBigInt()
  },
  'next: SegmentId': async () => {
    const generator = await segment()
    return () => generator.next()
  },
  'takeBigInts(1000): SegmentId': async () => {
    const generator = await segment()
    return () => generator.takeBigInts(1000)
  },
}

/** UUIDv7 where the runtime has it: Node.js 24.16 and 26.1, and Bun. */
const NEWER = {
  'next: crypto.randomUUIDv7': () => require('node:crypto').randomUUIDv7,
  'next: Bun.randomUUIDv7': () => globalThis.Bun.randomUUIDv7,
}

const EPOCH = 1577836800000
const texts = (base) => {
  const generator = flakeforge()
  return () => generator.nextString(base)
}
const made = (Generator, options) => () => new Generator(options)

/**
 * A generator that never runs out of IDs, because it may run ahead of the clock. It has node 6: otherwise the generators of node 5
 * in this process would have to wait until the clock has caught up.
 */
const ahead = () => dialect({ id: 6, maxAheadMs: Number.POSITIVE_INFINITY })

/** Different IDs, and parts of IDs: with equal ones, a compiler could do the work only once. */
const someIds = () => {
  const first = flakeIdgen().next().readBigUInt64BE()
  return Array.from({ length: 256 }, (_, i) => first + BigInt(i * 4_194_305))
}
const someParts = () =>
  Array.from({ length: 256 }, (_, i) => ({ timestamp: Date.now() + i, datacenter: i & 31, worker: 2, counter: i }))

/** The same IDs in the other forms in which programs hold them. */
const someTexts = () => someIds().map(String)
const buffers = () =>
  someIds().map((id) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64BE(id)
    return bytes
  })
const formatted = (ids, base, format = require('../..').format) => each(ids, (id) => format(id, base))

/** A call that uses one value after the other. */
function each(values, call) {
  let i = 0
  return () => call(values[i++ & 255])
}

/**
 * Batches: how many IDs, and the call that generates them. The result is per ID. There is a pause before each call,
 * after which the caches no longer hold what it needs. Calls without a pause are faster.
 */
const BATCHES = {
  'take(4096)': [4096, () => calls(flakeforge(), 'take', 4096)],
  'takeBigInts(4096)': [4096, () => calls(flakeforge(), 'takeBigInts', 4096)],
  'takeStrings(4096)': [4096, () => calls(flakeforge(), 'takeStrings', 4096)],
  "takeStrings(4096, 'base62')": [4096, () => calls(flakeforge(), 'takeStrings', 4096, 'base62')],
  'nextString(), 4096 in a row': [4096, () => intoArray(4096, flakeforge(), (generator) => generator.nextString())],
  'take(4096), then format': [4096, () => takeAndFormat(flakeforge())],
  'take(4096), 50 in a row': [4096 * 50, () => inARow(50, calls(ahead(), 'take', 4096))],
  'takeBigInts(10), 400 in a row': [4000, () => inARow(400, calls(ahead(), 'takeBigInts', 10))],
  'takeBigInts(64), 400 in a row': [64 * 400, () => inARow(400, calls(ahead(), 'takeBigInts', 64))],
  'takeBigInts(65536), snowcast': [
    65_536,
    () => calls(dialect({ layout: 'snowcast', nodes: 128 }), 'takeBigInts', 65_536),
  ],
  'takeBigInts(4096), safe': [4096, () => calls(safe(), 'takeBigInts', 4096)],
  'takeNumbers(4096), safe': [4096, () => calls(safe(), 'takeNumbers', 4096)],
  'takeBigInts(4096), uniqueid spread': [4096, () => calls(uniqueid('spread'), 'takeBigInts', 4096)],
  'takeBigInts(4096), uniqueid sequential': [4096, () => calls(uniqueid('sequential'), 'takeBigInts', 4096)],
}

const dialect = (options) => new (require('../..'))({ id: 5, ...options })
const safe = () => dialect({ layout: 'safe', maxAheadMs: Number.POSITIVE_INFINITY })
const uniqueid = (mode) => dialect({ layout: 'uniqueid', mode, maxAheadMs: Number.POSITIVE_INFINITY })
const calls =
  (generator, method, ...args) =>
  () =>
    generator[method](...args)

/** takeStrings() without its native loop. */
const intoArray = (n, generator, call) => () => Array.from({ length: n }, () => call(generator))

const takeAndFormat = (generator) => {
  const { format } = require('../..')
  return () => {
    const ids = generator.take(4096)
    return Array.from({ length: 4096 }, (_, i) => format(ids.subarray(i * 8, i * 8 + 8)))
  }
}

/** The same call several times; only the last result is kept. */
const inARow = (times, call) => () => {
  let result
  for (let i = 0; i < times; i++) result = call()
  return result
}

/**
 * Objects that are created a million times in one loop without letting the event loop turn, and a generator's options.
 */
const LOOPS = {
  'new FlakeId()': undefined,
  'new FlakeId({ epoch })': { epoch: EPOCH },
  'new FlakeId({ id: 7 })': { id: 7 },
  'new FlakeId({ datacenter, worker })': { datacenter: 3, worker: 7 },
}

module.exports = { CALLS, SCOPES, NEWER, BATCHES, LOOPS, flakeforge, flakeIdgen }
