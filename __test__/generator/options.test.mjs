// Options and arguments: what is rejected, with which error, and what is accepted. Nothing is masked or coerced: a
// worker 32 that became 0 would be another process's worker 0.

import { inspect } from 'node:util'
import test from 'ava'
import { DIALECTS } from '../support/dialects.mjs'
import { FlakeId, freshNode, manualClock, SOME_TIME, throwsCode } from '../support/index.mjs'

const invalidDate = new Date(Number.NaN)
const tomorrow = Date.now() + 86_400_000
const noFields = Object.create(null)

const numbersOutOf = (max) => [
  -1,
  max + 1,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  2 ** 53,
]
const badText = ['', ' ', ' 7', '7 ', '7x', '0x7', '0b1', '1.5', '1e3', '+7', '--7', '٧', 'x']
const noNumbers = [true, false, {}, [], [7], noFields, () => 7, Symbol('7'), 7n, new Date(7)]

const rows = (option, Type, values) => values.map((value) => [option, value, Type])
const dates = [tomorrow, String(tomorrow), new Date(tomorrow), invalidDate]

/** [option, value, type of the error] */
const refused = [
  ...['datacenter', 'worker'].flatMap((option) => [
    ...rows(option, RangeError, [...numbersOutOf(31), 1024, '32', '-1', ...badText]),
    ...rows(option, TypeError, noNumbers),
  ]),
  ...rows('id', RangeError, [...numbersOutOf(1023), '1024', '-1', ...badText]),
  ...rows('id', TypeError, noNumbers),
  ...rows('seqMask', RangeError, [...numbersOutOf(4095), 0, 2, 4, 5, 6, 8, 4094, 4096, 8191]),
  ...rows('seqMask', RangeError, ['0', '6', '8191', ...badText]),
  ...rows('seqMask', TypeError, noNumbers),
  ...rows('counterStart', RangeError, [1, -1, 4096, '1', 'Random', '', true, {}]),
  ...rows('epoch', RangeError, [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -(2 ** 53), 8.64e15 + 1]),
  ...rows('epoch', RangeError, [...dates, '2020-01-01', ...badText]),
  ...rows('epoch', TypeError, [true, {}, [], () => 0, 7n]),
  ...['maxAheadMs', 'maxWaitMs'].flatMap((option) => [
    ...rows(option, RangeError, [-1, Number.NaN, Number.NEGATIVE_INFINITY]),
    ...rows(option, undefined, ['x', '', ' 7', '-1', '7ms', true, {}, [], 7n]),
  ]),
  ...rows('layout', undefined, ['x', '', 'Flake', 'toString', '__proto__', 7, true]),
  ...rows('prefetch', RangeError, [0, -1, 100_001, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 32 + 5, '0']),
  ...rows('prefetch', undefined, ['x', '', [], [5], () => 5, 5n]),
  ...rows('nodeOffset', RangeError, [1.5, Number.NaN, 2 ** 53, ...badText]),
  ...rows('nodeOffset', TypeError, noNumbers),
  ...rows('idOffset', TypeError, [{}, [], 2 ** 53, '7.0', 1.5, true, Symbol('7')]),
  ...rows('idOffset', RangeError, [2n ** 63n, -(2n ** 63n) - 1n]),
  ...rows('clock', TypeError, [0, 7, '', 'now', true, {}, new Date(7)]),
]

const isSimple = (value) => ['number', 'string', 'boolean', 'bigint'].includes(typeof value)

function isOptionError(t, error, option, value) {
  t.true(error instanceof RangeError || error instanceof TypeError)
  t.is(error.code, 'ERR_FLAKE_OPTION')
  t.is(error.option, option)
  t.is(error.value, value, 'the value as it was given')
  t.true(error.message.includes(option), `the message names the option: ${error.message}`)
  if (isSimple(value)) t.true(error.message.includes(String(value)), `the message names the value: ${error.message}`)
}

for (const [number, [option, value, Type]] of refused.entries()) {
  test(`rejected ${number}: ${option} ${inspect(value)}`, (t) => {
    const error = t.throws(() => new FlakeId({ [option]: value }))
    isOptionError(t, error, option, value)
    if (Type !== undefined) t.is(Object.getPrototypeOf(error), Type.prototype)
  })
}

for (const value of [7, 0, '', 'x', true, false, [], [{ worker: 1 }], () => ({}), 7n, Symbol('7')]) {
  test(`rejected instead of options: ${inspect(value)}`, (t) => {
    const error = t.throws(() => new FlakeId(value))
    t.is(error.code, 'ERR_FLAKE_OPTION')
    t.true(error instanceof TypeError)
    t.is(error.option, 'options')
    t.is(error.value, value)
  })
}

test('id together with datacenter or worker is rejected, even where they agree', (t) => {
  for (const named of [{ datacenter: 1 }, { worker: 1 }, { datacenter: 0, worker: 7 }, { worker: '7' }]) {
    const error = throwsCode(t, () => new FlakeId({ id: 7, ...named }), 'ERR_FLAKE_OPTION', TypeError)
    t.true(error.option in named)
    t.is(error.value, named[error.option])
    t.regex(error.message, /\bid\b/)
  }
})

const GENERAL = [
  'id',
  'epoch',
  'seqMask',
  'layout',
  'nodeOffset',
  'idOffset',
  'counterStart',
  'maxAheadMs',
  'maxWaitMs',
  'prefetch',
  'clock',
  'shared',
]

for (const [key, meant] of Object.entries({
  wroker: 'worker',
  Worker: 'worker',
  datacentre: 'datacenter',
  seqmask: 'seqMask',
  maxWaitMS: 'maxWaitMs',
})) {
  test(`the error for a misspelt option names the intended one: '${key}'`, (t) => {
    const error = throwsCode(t, () => new FlakeId({ [key]: 7 }), 'ERR_FLAKE_OPTION', TypeError)
    t.like(error, { option: key, value: 7, message: `Unknown option '${key}'. Did you mean '${meant}'?` })
  })
}

for (const key of ['host', 'count', 'toString', '']) {
  test(`the error for a key unlike any option names all options: '${key}'`, (t) => {
    const error = throwsCode(t, () => new FlakeId({ [key]: 7 }), 'ERR_FLAKE_OPTION', TypeError)
    t.like(error, { option: key, value: 7 })
    t.true(error.message.startsWith(`Unknown option '${key}'. The options are `), error.message)
    const named = error.message.slice(error.message.indexOf(' are ') + 5, -1).split(', ')
    t.deepEqual(named.sort(), ['datacenter', 'worker', 'mode', ...GENERAL].sort())
  })
}

/** What other packages call the options, as their own documents have it, by layout. */
const CALLED = [
  [{ mid: 42 }, 'id'], // snowflake-id, flakeid
  [{ offset: 1_546_300_800_000 }, 'epoch'], // snowflake-id
  [{ timeOffset: 1_546_300_800_000 }, 'epoch'], // flakeid
  [{ instance_id: 4 }, 'id'], // nodejs-snowflake
  [{ custom_epoch: 1_577_836_800_000 }, 'epoch'], // nodejs-snowflake
  [{ shard_id: 12 }, 'id'], // @theinternetfolks/snowflake
  [{ workerId: 3 }, 'worker'], // snowyflake, snowflake-uuid, simple-flakeid
  [{ worker_id: 3 }, 'worker'],
  [{ datacenterId: 3 }, 'datacenter'], // snowflake-uuid
  [{ data_center_id: 3 }, 'datacenter'],
  [{ dataCentreId: 3 }, 'datacenter'],
  [{ baseTime: 1_577_836_800_000 }, 'epoch'], // simple-flakeid
  [{ seqBitLength: 6 }, 'layout'], // simple-flakeid
  [{ workerIdBits: 8 }, 'layout'], // snowflake-uuid
  [{ maxSeqNumber: 63 }, 'seqMask'], // simple-flakeid
  [{ twepoch: 1_288_834_974_657 }, 'epoch'], // Twitter's Snowflake
  [{ epochMs: 1_577_836_800_000 }, 'epoch'],
  [{ node: 5 }, 'id'],
  [{ nodeId: 5 }, 'id'],
  [{ NODE_ID: 5 }, 'id'],
  [{ machineId: 5 }, 'id'],
  [{ pid: 5 }, 'id'],
  [{ shard: 5 }, 'id'],
  [{ layout: 'sonyflake', machineID: 5 }, 'machine'], // Sonyflake
  [{ layout: 'sonyflake', startTime: new Date(0) }, 'epoch'],
  [{ layout: 'sonyflake', workerId: 5 }, 'machine'],
  [{ layout: 'discord', workerId: 5 }, 'worker'], // @sapphire/snowflake
  [{ layout: 'discord', processId: 5 }, 'process'],
  [{ layout: 'tsid', customEpoch: 0 }, 'epoch'], // tsid-creator
  [{ layout: 'tsid', nodeBits: 8 }, 'layout'],
  [{ layout: 'hazelcast', nodeIdOffset: 5 }, 'nodeOffset'], // Hazelcast
  [{ layout: 'hazelcast', epochStart: 0 }, 'epoch'],
  [{ layout: 'hazelcast', allowedFutureMillis: 5 }, 'maxAheadMs'],
  [{ layout: 'hazelcast', prefetchCount: 5 }, 'prefetch'],
  [{ layout: 'uniqueid', clusterId: 5 }, 'cluster'], // java-uniqueid
  [{ layout: 'uniqueid', generatorId: 5 }, 'generator'],
  [{ mod: 'spread' }, 'mode'],
]

for (const [options, meant] of CALLED) {
  const key = Object.keys(options).at(-1)
  test(`the error for another package's name names ours: ${options.layout ?? 'flake'} '${key}'`, (t) => {
    const error = throwsCode(t, () => new FlakeId(options), 'ERR_FLAKE_OPTION', TypeError)
    t.like(error, { option: key, value: options[key] })
    t.regex(error.message, new RegExp(`^Unknown option '${key}'\\. Did you mean '${meant}'[,?]`))
  })
}

test('nodes and mode are named for layouts that have them', (t) => {
  const { message } = t.throws(() => new FlakeId({ layout: 'snowcast', noodes: 128 }))
  t.is(message, "Unknown option 'noodes'. Did you mean 'nodes'?")
  for (const { name, fields } of DIALECTS) {
    const { message: all } = t.throws(() => new FlakeId({ layout: name, zzz: 1 }))
    t.is(all.includes(' mode,'), fields.length > 0, name)
  }
})

/** The message of each kind, word for word. */
const MESSAGES = [
  [{ worker: 32 }, 'worker must be an integer from 0 to 31, but is 32'],
  [{ worker: 'x' }, "worker must be an integer from 0 to 31, but is 'x'"],
  [{ worker: [7] }, 'worker must be an integer from 0 to 31, but is [7]'],
  [{ worker: {} }, 'worker must be an integer from 0 to 31, but is an object'],
  [{ worker: new Map() }, 'worker must be an integer from 0 to 31, but is an object of class Map'],
  [{ id: 7, worker: 7 }, 'worker (7) cannot be used together with id (7), which is the whole node number'],
  [
    { nodeOffset: 1024 },
    'nodeOffset must be an integer from 0 to 1023, so that node 0 stays within 0 to 1023, but is 1024',
  ],
  [{ seqMask: 6 }, 'seqMask must be one less than a power of two (1, 3, 7, … 4095), but is 6'],
  [{ maxWaitMs: 'soon' }, "maxWaitMs must be a number of milliseconds, but is 'soon'"],
  [{ maxWaitMs: -1 }, 'maxWaitMs must be 0 or more, but is -1'],
  [{ epoch: true }, 'epoch must be Unix ms or a Date, but is true'],
  [{ layout: 'hazlecast' }, /^Unknown layout 'hazlecast'\. Did you mean 'hazelcast'\? For your own fields, pass/],
  [
    { layout: 'chronicle', mode: 'spread' },
    "mode ('spread') cannot be used with layout 'chronicle': its IDs are decimal, so there are no bits to reverse",
  ],
  [{ nodes: 128 }, "nodes (128) cannot be used with layout 'flake': only 'snowcast' has it"],
  [
    { clock: () => 1, shared: 'x' },
    'clock (a function) cannot be used together with shared: all processes share one clock',
  ],
  [{ prefetch: { coutn: 5 } }, "Unknown option 'coutn'. Did you mean 'count'?"],
  [7, 'options must be an object, but is 7'],
  [new Map([['id', 3]]), 'options must be a plain object, but is an object of class Map'],
  [Promise.resolve({ id: 3 }), 'options must be a plain object, but is an object of class Promise'],
  [new Date(0), 'options must be a plain object, but is 1970-01-01T00:00:00.000Z'],
]

for (const [options, message] of MESSAGES) {
  test(`message: ${inspect(options)}`, (t) => {
    t.throws(() => new FlakeId(options), { code: 'ERR_FLAKE_OPTION', message })
  })
}

test('the node fields of the layout are options, and those of other layouts are not', (t) => {
  for (const [layout, fields] of [
    ...DIALECTS.map(({ name, nodeFields }) => [name, nodeFields.map(([field]) => field)]),
    [{ fields: Object.entries({ timestamp: 44, pod: 20 }) }, ['pod']],
  ]) {
    for (const field of fields) t.notThrows(() => new FlakeId({ layout, [field]: 7 }))
    const other = fields.includes('host') ? 'zebra' : 'host'
    const error = throwsCode(t, () => new FlakeId({ layout, [other]: 7 }), 'ERR_FLAKE_OPTION', TypeError)
    t.is(error.option, other)
    for (const known of [...fields, ...GENERAL])
      t.true(error.message.includes(known), `${error.message} names ${known}`)
  }
})

test('a layout may be a name, a Layout, or fields', (t) => {
  const { Layout, layouts } = FlakeId
  const spec = { epoch: 5, fields: Object.entries({ timestamp: 44, pod: 20 }) }
  for (const layout of ['discord', layouts.discord, new Layout('discord')]) {
    t.is(new FlakeId({ layout, clock: manualClock() }).layout.name, 'discord')
  }
  for (const layout of [spec, new Layout(spec)]) t.like(new FlakeId({ layout, pod: 77 }), { id: 77, epoch: 5 })
  t.is(new FlakeId({ layout: layouts.discord }).layout.epoch, layouts.discord.epoch)
  t.is(new FlakeId().layout, layouts.flake)
  const error = t.throws(() => new FlakeId({ layout: {} }), { code: 'ERR_FLAKE_OPTION' })
  t.is(error.option, 'fields')
})

test('bounds are those of the layout', (t) => {
  for (const { name: layout, nodes, counterBits } of DIALECTS) {
    const [idMax, counterMax] = [nodes - 1, 2 ** counterBits - 1]
    t.is(new FlakeId({ layout, id: idMax }).id, idMax)
    t.is(throwsCode(t, () => new FlakeId({ layout, id: idMax + 1 }), 'ERR_FLAKE_OPTION', RangeError).option, 'id')
    if (counterMax) t.notThrows(() => new FlakeId({ layout, seqMask: counterMax }))
    const seqMask = counterMax * 2 + 1
    const Type = counterMax ? RangeError : TypeError
    t.is(throwsCode(t, () => new FlakeId({ layout, seqMask }), 'ERR_FLAKE_OPTION', Type).option, 'seqMask')
  }
})

test('prefetch: bounds and unknown keys, named with the option', (t) => {
  for (const [prefetch, option] of [
    [{ count: 0 }, 'prefetch.count'],
    [{ count: -1 }, 'prefetch.count'],
    [{ count: 1.5 }, 'prefetch.count'],
    [{ count: 100_001 }, 'prefetch.count'],
    [{ count: '5x' }, 'prefetch.count'],
    [{ validityMs: -1 }, 'prefetch.validityMs'],
    [{ validityMs: 1.5 }, 'prefetch.validityMs'],
    [{ validityMs: Number.POSITIVE_INFINITY }, 'prefetch.validityMs'],
    [{ counts: 5 }, 'counts'],
  ]) {
    t.is(t.throws(() => new FlakeId({ prefetch }), { code: 'ERR_FLAKE_OPTION' }).option, option)
  }
  for (const prefetch of [true, false, null, 1, 100_000, {}, { count: 1, validityMs: 0 }, { count: 100_000 }]) {
    t.notThrows(() => new FlakeId({ prefetch }))
  }
})

test('a misspelt key is rejected even when its value is undefined', (t) => {
  t.throws(() => new FlakeId({ wroker: undefined }), { code: 'ERR_FLAKE_OPTION' })
})

test('null and undefined mean absent', (t) => {
  const names = ['datacenter', 'worker', ...GENERAL]
  for (const absent of [null, undefined]) {
    const flake = new FlakeId(Object.fromEntries(names.map((name) => [name, absent])))
    t.like(flake, { datacenter: 0, worker: 0, id: 0, epoch: 0 })
    t.like(new FlakeId({ id: 7, worker: absent, datacenter: absent }), { id: 7, worker: undefined })
    t.like(new FlakeId({ id: absent, worker: 7 }), { id: 7, worker: 7, datacenter: 0 })
    t.like(new FlakeId(absent), { datacenter: 0, worker: 0, id: 0, epoch: 0 })
  }
  t.like(new FlakeId(), { datacenter: 0, worker: 0, id: 0, epoch: 0 })
})

test('decimal text is accepted as a number, as from environment variables', (t) => {
  t.like(new FlakeId({ datacenter: '9', worker: '7' }), { datacenter: 9, worker: 7, id: (9 << 5) | 7 })
  t.like(new FlakeId({ id: '1023', epoch: '1000000000000' }), { id: 1023, epoch: 1e12 })
  t.like(new FlakeId({ worker: '007' }), { worker: 7 })
  t.notThrows(() => new FlakeId({ seqMask: '4095', maxAheadMs: '15000', maxWaitMs: '1000' }))
})

test('text is used as a number, not only read', (t) => {
  const make = (options) => new FlakeId({ ...options, clock: manualClock() })
  const [text, number] = [make({ id: '7', seqMask: '1', epoch: '5' }), make({ id: 7, seqMask: 1, epoch: 5 })]
  t.deepEqual([text.next(), text.next()], [number.next(), number.next()])
  t.throws(() => text.next(), { code: 'ERR_FLAKE_OVERFLOW' })
})

test('every bound is inclusive', (t) => {
  for (const [option, value] of [
    ['datacenter', 0],
    ['datacenter', 31],
    ['worker', 31],
    ['id', 0],
    ['id', 1023],
    ['epoch', 0],
    ['epoch', -62135596800000],
    ['epoch', Date.now()],
  ]) {
    t.is(new FlakeId({ [option]: value })[option], value)
  }
  for (let bits = 1; bits <= 12; bits++) t.notThrows(() => new FlakeId({ seqMask: 2 ** bits - 1 }))
  for (const ms of [0, 0.5, 1e15, Number.POSITIVE_INFINITY]) t.notThrows(() => new FlakeId({ maxAheadMs: ms }))
  for (const ms of [0, 0.5, 1e9]) t.notThrows(() => new FlakeId({ maxWaitMs: ms }))
  t.notThrows(() => new FlakeId({ layout: 'flake' }))
})

test('an epoch may be a Date, and reads back as a number', (t) => {
  const date = new Date('2020-01-01')
  const flake = new FlakeId({ epoch: date, clock: () => date.getTime() + 5 })
  t.is(flake.epoch, date.getTime())
  t.is(flake.decode(flake.next()).tick, 5n)
  t.is(new FlakeId({ epoch: new Date(0) }).epoch, 0)
})

test('-0 is 0', (t) => {
  const flake = new FlakeId({ datacenter: -0, worker: -0, epoch: -0 })
  for (const name of ['datacenter', 'worker', 'id', 'epoch']) t.is(flake[name], 0)
  t.is(new FlakeId({ id: -0 }).id, 0)
})

test('the node number is datacenter << 5 | worker', (t) => {
  for (const [datacenter, worker] of [
    [0, 1],
    [1, 0],
    [9, 7],
    [31, 31],
  ]) {
    const flake = new FlakeId({ datacenter, worker, clock: manualClock() })
    t.is(flake.id, (datacenter << 5) | worker)
    t.like(flake.decode(flake.next()), { datacenter, worker, id: flake.id, timestamp: SOME_TIME, counter: 0 })
  }
})

test('the options are copied: changing them later changes nothing', (t) => {
  const options = { worker: 1, clock: () => SOME_TIME }
  const flake = new FlakeId(options)
  options.worker = 2
  options.clock = () => 0
  t.like(flake.decode(flake.next()), { worker: 1, timestamp: SOME_TIME })
  t.notThrows(() => new FlakeId(Object.freeze({ worker: 1 })))
})

test('properties are read-only', (t) => {
  const flake = new FlakeId({ worker: 1 })
  for (const name of ['datacenter', 'worker', 'id', 'epoch', 'layout', 'stats']) {
    t.throws(() => Object.assign(flake, { [name]: 7 }), { instanceOf: TypeError })
  }
  t.is(flake.worker, 1)
})

test('calling the class without new is a TypeError', (t) => {
  t.throws(() => FlakeId(), { instanceOf: TypeError })
  t.throws(() => FlakeId({ worker: 1 }), { instanceOf: TypeError })
  t.throws(() => Reflect.apply(FlakeId, {}, []), { instanceOf: TypeError })
})

test('the class can be extended', (t) => {
  class Mine extends FlakeId {
    next() {
      return super.next().toString('hex')
    }
  }
  t.is(new Mine({ clock: manualClock() }).next(), '62f3f95a00000000')
})

test('every export is a property of the class', (t) => {
  t.is(FlakeId.FlakeId, FlakeId)
  t.is(FlakeId.default, FlakeId)
  for (const name of ['Layout', 'format', 'parse', 'toBigInt', 'toSigned', 'fromSigned', 'compare']) {
    t.is(typeof FlakeId[name], 'function')
  }
  t.deepEqual(
    Object.keys(FlakeId.layouts),
    DIALECTS.map(({ name }) => name),
  )
  for (const layout of Object.values(FlakeId.layouts)) t.true(layout instanceof FlakeId.Layout)
})

test('both formats, CommonJS and ES, have the same exports', async (t) => {
  const module = await import('flakeforge')
  t.is(module.default, FlakeId)
  t.is(module.FlakeId, FlakeId)
  for (const name of Object.keys(FlakeId).filter((key) => key !== 'default')) t.is(module[name], FlakeId[name])
})

for (const callback of ['x', '', 0, 1, true, false, {}, [], 7n, Symbol('x')]) {
  test(`next(${inspect(callback)}) is a TypeError, and takes no number`, (t) => {
    const flake = new FlakeId({ id: freshNode(), clock: manualClock() })
    const error = throwsCode(t, () => flake.next(callback), 'ERR_FLAKE_OPTION', TypeError)
    t.is(error.option, 'callback')
    t.is(error.value, callback)
    t.is(flake.stats.ids, 0)
    t.is(flake.decode(flake.next()).counter, 0)
  })
}

test('next(null) and next(undefined) are synchronous', (t) => {
  const flake = new FlakeId({ clock: manualClock() })
  t.true(Buffer.isBuffer(flake.next(null)))
  t.true(Buffer.isBuffer(flake.next(undefined)))
  t.is(flake.decode(flake.next()).counter, 2)
})

for (const base of ['x', 'DEC', 'hexadecimal', 'toString', '__proto__', 16, {}, true]) {
  test(`nextString(${inspect(base)}) is an error, and takes no number`, (t) => {
    const flake = new FlakeId({ clock: manualClock() })
    const error = t.throws(() => flake.nextString(base), { code: 'ERR_FLAKE_OPTION' })
    t.is(error.option, 'base')
    t.is(error.value, base)
    t.is(flake.decode(flake.next()).counter, 0)
  })
}
