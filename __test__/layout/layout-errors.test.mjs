// Rejected layouts: impossible specs, options that a layout does not have, parts that do not fit, and invalid IDs. The
// error must name the field, because a silently dropped bit could produce another generator's ID.

import { inspect } from 'node:util'
import test from 'ava'
import { dialect } from '../support/dialects.mjs'
import { FlakeId, jsonOfChild, numberOf, SOME_TIME, throwsCode } from '../support/index.mjs'

const { Layout, layouts, toBigInt } = FlakeId
const T = ['timestamp', 41]
const S = ['shard', 13]
const C = ['counter', 10]
const noFields = Object.create(null)

/** Asserts an ERR_FLAKE_OPTION about this option, from the layout alone and from a generator with it. */
function refuses(t, spec, option, message, choices) {
  for (const call of [() => new Layout(spec, choices), () => new FlakeId({ layout: spec, ...choices })]) {
    const error = t.throws(call, { code: 'ERR_FLAKE_OPTION' })
    t.true(error instanceof RangeError || error instanceof TypeError)
    t.is(error.option, option)
    t.regex(error.message, message)
  }
}

// --- fields ---

const sparse = [T, S, S, C]
delete sparse[1]

/** [fields, option, message]; codec/vectors.test.mjs has many more, with the core's messages. */
const impossible = [
  [[T, S], 'fields', /64 bits.*54/],
  [[], 'fields', /timestamp/],
  [[T, ['shard', 0], ['counter', 23]], 'fields[1]', /1 to 63.*'shard' has 0/],
  [[['timestamp', 64]], 'fields[0]', /1 to 63.*'timestamp' has 64/],
  [[T, ['shard', -1], ['counter', 24]], 'fields[1]', /shard/],
  [Object.entries({ timestamp: 41, shard: 2 ** 32 + 23 }), 'fields[1]', /shard/],
  [Object.entries({ timestamp: 41, shard: 1.5, counter: 21.5 }), 'fields[1]', /\[name, bits\]/],
  [[['timestamp', Number.NaN], S, C], 'fields[0]', /\[name, bits\]/],
  [[['timestamp', '41'], S, C], 'fields[0]', /\[name, bits\]/],
  [[T, [7, 13], C], 'fields[1]', /\[name, bits\]/],
  [[T, ['shard', 13, 1], C], 'fields[1]', /\[name, bits\]/],
  [[T, 'shard', C], 'fields[1]', /\[name, bits\]/],
  [[T, null, C], 'fields[1]', /\[name, bits\]/],
  [sparse, 'fields[1]', /\[name, bits\]/],
  ...[undefined, null, 'timestamp', 41, {}, { timestamp: 41, counter: 23 }].map((fields) => [
    fields,
    'fields',
    /array/,
  ]),
]

for (const [number, [fields, option, message]] of impossible.entries()) {
  test(`impossible ${number}: ${inspect(fields, { breakLength: Number.POSITIVE_INFINITY })}`, (t) => {
    refuses(t, { fields }, option, message)
  })
}

test('a counter with the name from other systems is rejected: it would be a node field', (t) => {
  for (const name of 'sequence Sequence seq seq_no sequence-number increment autoIncrement step'.split(' ')) {
    refuses(
      t,
      { fields: [T, S, [name, 10]] },
      'fields[2]',
      new RegExp(`must have the name 'counter', but is called '${name}'`),
    )
    t.notThrows(() => new Layout({ fields: [T, [name, 13], C] }), 'beside a counter')
  }
})

test('63 bits: the error names the missing field of zeros', (t) => {
  for (const [bits, zeros] of [
    [41, 1],
    [39, 3],
  ])
    refuses(
      t,
      {
        fields: [
          ['timestamp', bits],
          ['node', 10],
          ['counter', 12],
        ],
      },
      'fields',
      RegExp(`\\['zero', ${zeros}\\]`),
    )
})

const RESERVED = [
  'id',
  'epoch',
  'seqMask',
  'layout',
  'nodes',
  'mode',
  'nodeOffset',
  'idOffset',
  'maxAheadMs',
  'maxWaitMs',
  'prefetch',
  'clock',
  'shared',
  'date',
  'tick',
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'toJSON',
]

for (const name of RESERVED) {
  test(`a field cannot be called '${name}'`, (t) => {
    refuses(t, { fields: [T, [name, 13], C] }, 'fields[1]', new RegExp(`'${name}'`))
  })
}

test('valid specs', (t) => {
  for (const fields of [
    Object.entries({ timestamp: 63, counter: 1 }),
    Object.entries({ timestamp: 1, zero: 63 }),
    [
      ['zero', 1],
      ['timestamp', 40],
      ['zero', 1],
      ['node', 11],
      ['zero', 11],
    ],
    Object.entries({ timestamp: 11, node: 53 }),
    [['counter', 23], T],
    [T, ['Shard', 7], ['shard', 6], C],
    [T, ['a b/ü', 23]],
  ]) {
    const given = structuredClone(fields)
    const layout = new Layout({ fields: given })
    t.deepEqual(layout.fields, fields)
    given[0][1] = 5
    t.deepEqual(layout.fields, fields, 'the fields are copied')
    t.throws(() => layout.fields.push(['x', 1]), { instanceOf: TypeError })
    t.throws(() => layout.fields[0].push('x'), { instanceOf: TypeError })
    t.notThrows(() => new FlakeId({ layout, clock: () => 0 }).next())
  }
})

// --- the rest of a spec ---

const fields = [T, S, C]

for (const tickMs of [0, -1, -0.5, Number.NaN, Number.POSITIVE_INFINITY, 0.0000001, 0.0000015, 1 / 3, 1e12]) {
  test(`tickMs ${tickMs} is rejected`, (t) => refuses(t, { fields, tickMs }, 'tickMs', /tickMs.*nanosecond/))
}

for (const [key, value] of [
  ...['1', true, {}, [], 1n, () => 1].map((tickMs) => ['tickMs', tickMs]),
  ...[1.5, Number.NaN, 'x', '', true, {}, 8.64e15 + 1, new Date(Number.NaN)].map((epoch) => ['epoch', epoch]),
  ...['', 7, true, {}, []].map((name) => ['name', name]),
]) {
  test(`${key} ${inspect(value)} in a spec is rejected`, (t) => {
    refuses(t, { fields, [key]: value }, key, new RegExp(key))
  })
}

test('undefined means absent in a spec too', (t) => {
  const layout = new Layout({ fields, epoch: undefined, tickMs: undefined, name: undefined })
  t.like(layout, { epoch: 0, name: 'custom' })
})

test('ticks of any whole number of nanoseconds', (t) => {
  for (const tickMs of [0.000001, 0.0001, 0.1, 0.3, 1, 2.5, 10, 1000, 3_600_000]) {
    const { end, epoch } = new Layout({
      fields: Object.entries({ timestamp: 30, counter: 34 }),
      tickMs,
      epoch: SOME_TIME,
    })
    t.true(Math.abs(end.getTime() - epoch - 2 ** 30 * tickMs) <= 1, `${tickMs} ms`)
  }
})

for (const key of ['wroker', 'nodes', 'constructor', '']) {
  test(`the error for an unknown key of a spec names all keys: '${key}'`, (t) => {
    refuses(t, { fields, [key]: 1 }, key, new RegExp(`'${key}'.*epoch.*tickMs.*fields`))
  })
}

for (const [key, meant] of [
  ['field', 'fields'],
  ['tickms', 'tickMs'],
]) {
  test(`a misspelt key of a spec: '${key}'`, (t) => {
    refuses(t, { fields, [key]: 1 }, key, new RegExp(`^Unknown option '${key}'. Did you mean '${meant}'`))
  })
}

for (const [name, meant] of [
  ['Discord', 'discord'],
  ['hazlecast', 'hazelcast'],
]) {
  test(`a misspelt layout: '${name}'`, (t) => {
    refuses(t, name, 'layout', new RegExp(`^Unknown layout '${name}'. Did you mean '${meant}'`))
  })
}

for (const spec of ['nope', '', 'toString', '__proto__']) {
  test(`no such layout: '${spec}'`, (t) => refuses(t, spec, 'layout', /flake.*hazelcast.*sonyflake/))
}

for (const spec of [5, true, 5n, () => 1, Symbol('x')]) {
  test(`not a layout: ${inspect(spec)}`, (t) => refuses(t, spec, 'layout', /layout/))
}

test('without a spec there is no layout, and the class needs new', (t) => {
  for (const spec of [undefined, null]) throwsCode(t, () => new Layout(spec), 'ERR_FLAKE_OPTION', TypeError)
  t.throws(() => Layout('flake'), { instanceOf: TypeError })
  for (const spec of [[T, S, C], Buffer.alloc(8)]) t.throws(() => new Layout(spec), { code: 'ERR_FLAKE_OPTION' })
  for (const options of [5, 'x', true, []]) t.throws(() => new Layout('flake', options), { code: 'ERR_FLAKE_OPTION' })
  t.throws(() => new Layout('flake', { worker: 1 }), { code: 'ERR_FLAKE_OPTION' })
})

// --- options of layouts ---

test('only snowcast accepts nodes, and only layouts of bits a mode', (t) => {
  for (const name of Object.keys(layouts)) {
    if (name !== 'snowcast') refuses(t, name, 'nodes', new RegExp(`nodes.*'${name}'`), { nodes: 1024 })
    if (name.startsWith('chronicle'))
      refuses(t, name, 'mode', new RegExp(`mode.*'${name}'.*decimal`), { mode: 'spread' })
    else t.notThrows(() => new Layout(name, { mode: 'spread' }), name)
  }
  refuses(t, { fields }, 'nodes', /nodes.*'custom'/, { nodes: 1024 })
  t.notThrows(() => new Layout({ fields }, { mode: 'spread' }))
})

for (const nodes of [127, 8193, 0, -1, 1.5, Number.NaN, '127', 'x', '', true, {}, 128n]) {
  test(`nodes ${inspect(nodes)} is rejected`, (t) => refuses(t, 'snowcast', 'nodes', /nodes.*128.*8192/, { nodes }))
}

for (const mode of ['x', '', 'SPREAD', 'toString', 0, true, {}]) {
  test(`mode ${inspect(mode)} is rejected`, (t) => {
    for (const name of ['uniqueid', 'flake']) refuses(t, name, 'mode', /mode.*spread.*sequential/, { mode })
  })
}

for (const idOffset of [0.5, '5.0', '0x5', '', 2 ** 53, 2n ** 63n, `${2n ** 63n}`, -(2n ** 63n) - 1n, true, {}]) {
  test(`idOffset ${inspect(idOffset)} is rejected`, (t) => {
    refuses(t, 'hazelcast', 'idOffset', /idOffset.*bigint/, { idOffset })
  })
}

test('idOffset: layouts whose IDs do not sort by time have none', (t) => {
  refuses(t, 'uniqueid', 'idOffset', /idOffset.*'uniqueid'.*order/, { idOffset: 5n })
  refuses(t, { fields: [S, T, C] }, 'idOffset', /idOffset.*order/, { idOffset: 5n })
  t.notThrows(() => new Layout('uniqueid', { idOffset: 5n, mode: 'sequential' }))
  const sequential = new Layout('uniqueid', { idOffset: 5n, mode: 'sequential' })
  refuses(t, sequential, 'idOffset', /order/, { mode: 'spread' })
})

test('idOffset: parts whose ID would be below 0 or above 64 bits are rejected', (t) => {
  const layout = new Layout('hazelcast', { idOffset: -(2n ** 62n) })
  const error = throwsCode(t, () => layout.encode({ tick: 1n }), 'ERR_FLAKE_OPTION', RangeError)
  t.regex(error.message, /tick must be a bigint from 1099511627776 to 2199023255551, because of idOffset/)
  t.is(toBigInt(layout.encode({ tick: 2n ** 41n - 1n })), 2n ** 62n - 2n ** 22n)
})

// --- parts ---

const parts = { timestamp: SOME_TIME, datacenter: 9, worker: 7, counter: 1 }

test('encode: a value that does not fit its field is rejected, and the error names the field', (t) => {
  const notIn = (max) => [-1, max + 1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '', 'x', true, {}, 5n]
  for (const [name, values] of [
    ['counter', notIn(4095)],
    ['worker', notIn(31)],
    ['datacenter', notIn(31)],
    ['tick', [-1n, 2n ** 42n, 2n ** 64n, 2n ** 64n + 5n, 5, '-5', '5n', '', String(2n ** 42n), true, {}]],
    [
      'timestamp',
      [Number.NaN, Number.POSITIVE_INFINITY, new Date(Number.NaN), '', 'x', '5n', '2020-01-01', true, {}, []],
    ],
    ['date', [new Date(Number.NaN), '2023-02-30T00:00:00.000Z', 'Thu Nov 26 2026', true, {}]],
    ['mode', ['spread']],
  ]) {
    for (const value of values) {
      const error = t.throws(() => layouts.flake.encode({ ...parts, [name]: value }), { code: 'ERR_FLAKE_OPTION' })
      t.is(error.option, name)
      t.is(error.value, value)
      t.regex(error.message, new RegExp(name))
    }
  }
  for (const id of notIn(1023)) {
    const error = t.throws(() => layouts.flake.encode({ timestamp: SOME_TIME, id }), { code: 'ERR_FLAKE_OPTION' })
    t.is(error.option, 'id')
  }
})

test('encode: a time that the layout cannot express is an error and never wraps', (t) => {
  const ns = BigInt(SOME_TIME) * 1_000_000n
  const far = [-1, 2 ** 42, 1e300, -1e300, -1n, 10n ** 45n, 2n ** 64n * 1_000_000n + ns]
  for (const timestamp of [...far, ...[128n, 192n].flatMap((bits) => [2n ** bits + ns, ns - 2n ** bits])]) {
    throwsCode(t, () => layouts.flake.encode({ timestamp }), 'ERR_FLAKE_TIME_RANGE', RangeError)
  }
})

test('encode: invalid parts', (t) => {
  for (const given of [undefined, null, 5, 'x', true, []]) {
    t.throws(() => layouts.flake.encode(given), { code: 'ERR_FLAKE_OPTION' })
  }
  t.is(t.throws(() => layouts.flake.encode({ worker: 1 }), { code: 'ERR_FLAKE_OPTION' }).option, 'timestamp')
  const unknown = t.throws(() => layouts.flake.encode({ ...parts, wroker: 1 }), { code: 'ERR_FLAKE_OPTION' })
  t.is(unknown.option, 'wroker')
  t.regex(unknown.message, /worker/)
  t.notThrows(() => layouts.flake.encode({ ...noFields, timestamp: 5 }))
})

test('encode: id and fields must agree', (t) => {
  const { flake, uniqueid } = layouts
  const expected = flake.encode(parts)
  t.deepEqual(flake.encode({ ...parts, id: (9 << 5) | 7 }), expected)
  for (const wrong of [{ id: 7 }, { id: (9 << 5) | 8 }, { id: 0 }]) {
    const error = throwsCode(t, () => flake.encode({ ...parts, ...wrong }), 'ERR_FLAKE_OPTION', RangeError)
    t.true(['datacenter', 'worker'].includes(error.option))
    t.regex(error.message, /\bid\b/)
  }
  t.throws(() => uniqueid.encode({ timestamp: 5, id: 5, cluster: 6 }), { code: 'ERR_FLAKE_OPTION' })
  t.notThrows(() => uniqueid.encode({ timestamp: 5, id: 5, cluster: 5, generator: 0 }))
})

test('encode: tick, timestamp and date must agree, and the error names both', (t) => {
  const { twitter, flake, sonyflake } = layouts
  const parts = twitter.decode('1593572310593806338')
  const other = Date.UTC(2020, 0, 1)
  for (const [changed, option, named] of [
    [{ timestamp: other }, 'timestamp', /^timestamp must .* tick 379937245987n.*2022-11-18.*1577836800000/],
    [{ date: new Date(other) }, 'date', /^date must .* tick 379937245987n.*2020-01-01/],
    [{ timestamp: BigInt(other) * 1_000_000n }, 'timestamp', /tick 379937245987n/],
    [{ tick: 5n }, 'timestamp', /tick 5n.*1668772220644/],
    [{ tick: undefined, timestamp: other }, 'date', /timestamp 1577836800000.*2022-11-18/],
    [{ tick: undefined, date: new Date(other) }, 'date', /timestamp 1668772220644/],
    [{ tick: '5' }, 'timestamp', /tick '5'/],
    [{ worker: 3 }, 'worker', /^worker must be left out or 26, as in id 378, but is 3/],
    [{ datacenter: 3 }, 'datacenter', /id 378/],
    [{ id: 5 }, 'datacenter', /id 5/],
  ]) {
    const error = throwsCode(t, () => twitter.encode({ ...parts, ...changed }), 'ERR_FLAKE_OPTION', RangeError)
    t.is(error.option, option)
    t.regex(error.message, named)
  }
  const id = flake.encode({ tick: 5n })
  t.deepEqual(flake.encode({ tick: 5n, timestamp: 5, date: new Date(5) }), id)
  t.deepEqual(flake.encode({ date: new Date(5) }), id)
  t.deepEqual(flake.encode({ tick: null, timestamp: 5 }), id)
  t.deepEqual(flake.encode({ tick: 5n, timestamp: 5.75, date: new Date(5) }), id, 'a time within the tick')
  t.deepEqual(sonyflake.encode({ tick: 5n, timestamp: sonyflake.epoch + 59 }), sonyflake.encode({ tick: 5n }))
  t.is(toBigInt(twitter.encode({ timestamp: parts.timestamp, id: 378, worker: 26, counter: 2 })), 1593572310593806338n)
})

test('encode accepts parts after JSON or CSV', (t) => {
  for (const layout of Object.values(layouts)) {
    const id = layout.encode({
      timestamp: Math.max(SOME_TIME, layout.epoch) + 7,
      id: Math.min(5, dialect(layout.name).nodes - 1),
    })
    const parts = JSON.parse(JSON.stringify(layout.decode(id)))
    const csv = Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, String(value)]))
    t.is(typeof csv.timestamp, 'string')
    t.deepEqual(layout.encode(parts), id, layout.name)
    t.deepEqual(layout.encode(csv), id, layout.name)
    for (const name of ['tick', 'timestamp', 'date']) {
      const { tick: _, timestamp: __, date: ___, ...rest } = csv
      t.deepEqual(layout.encode({ ...rest, [name]: csv[name] }), id, `${layout.name} by ${name}`)
    }
  }
  t.is(layouts.twitter.decode(layouts.twitter.encode({ timestamp: '1668772220644' })).timestamp, 1668772220644)
})

test('a time in seconds or microseconds is out of range, and the error names the likely unit', (t) => {
  const { discord } = layouts
  for (const [call, message] of [
    [() => discord.encode({ timestamp: 1780000000 }), /^timestamp must be Unix ms, .*seconds: give 1780000000000,/],
    [() => discord.range(2026, Date.now()), /^from must be Unix ms, .*a year/],
    [() => discord.range(discord.epoch, 1780000000000000), /^to must be Unix ms, .*microseconds/],
    [() => discord.range(1780000000, Date.now()), /^from must be Unix ms, .*seconds/],
    [() => discord.range(20260131, Date.now()), /^from must be Unix ms, .*a date/],
    [() => discord.encode({ timestamp: 0 }), /^The time of timestamp, .*before the epoch 2015.*Give a later time/],
  ])
    t.regex(throwsCode(t, call, 'ERR_FLAKE_TIME_RANGE', RangeError).message, message)
})

test('an epoch in seconds, as a year, as a date or in µs: one warning explains the value', async (t) => {
  const looksLike = {
    1577836800: 'seconds',
    1577836801: 'seconds',
    2020: 'a year',
    202001: 'a date',
    20200101: 'a date',
    1577836800000000: 'microseconds',
  }
  const fine = [0, 5, 456, 1234567, -1, -2020, Date.UTC(1973, 4), 1577836800000, 20201301, 8.64e15 - 1]
  const source = `
    const warnings = []
    process.emitWarning = (message, { code }) => warnings.push([code, message])
    const { Layout } = FlakeId
    for (const epoch of ${JSON.stringify(Object.keys(looksLike))}) {
      for (const given of [epoch, Number(epoch), new Date(Number(epoch))]) new Layout('flake', { epoch: given })
      new Layout({ fields: [['timestamp', 64 - 22], ['node', 10], ['counter', 12]], epoch: Number(epoch) })
    }
    for (const epoch of ${JSON.stringify(fine)}) new Layout('flake', { epoch })
    new FlakeId({ epoch: 2021 })
    new Layout('flake', { epoch: new Date(1577836802) })
    process.stdout.write(JSON.stringify(warnings))
  `
  const warnings = await jsonOfChild(t, source)
  const wanted = [...Object.values(looksLike), 'a year', 'seconds'] // and those of the generator and of the Date
  t.is(warnings.length, wanted.length)
  for (const [i, [code, message]] of warnings.entries()) {
    t.is(code, 'FLAKEFORGE_EPOCH')
    t.regex(
      message,
      RegExp(`looks like ${wanted[i]}: give \\d{13} for 202[01]-01-01T00:00:0[012].000Z.*before the first ID`),
    )
  }
  t.regex(warnings.at(-1)[1], /^epoch is Unix ms, and this Date is 1970-01-19T06:17:16.802Z \(1577836802\)\. /)
})

// --- IDs ---

test('decode: an ID that no generator of the layout generates is rejected', (t) => {
  for (const name of ['hazelcast', 'twitter', 'sonyflake']) {
    const error = throwsCode(t, () => layouts[name].decode(2n ** 63n), 'ERR_FLAKE_ID', TypeError)
    t.regex(error.message, new RegExp(`'${name}'.*0`))
    t.is(numberOf(layouts[name].encode(layouts[name].decode(2n ** 63n - 1n))), 2n ** 63n - 1n)
  }
})

test('your own layout has no options, whatever its name', (t) => {
  const spec = { name: 'snowcast', fields: Object.entries({ timestamp: 63, counter: 1 }) }
  const error = t.throws(() => new Layout(spec, { nodes: 128 }), { code: 'ERR_FLAKE_OPTION' })
  t.is(error.option, 'nodes')
})

test('an epoch whose first tick ends after the last Date is rejected', (t) => {
  refuses(t, 'flake', 'epoch', /last Date/, { epoch: 8.64e15 })
  t.is(new Layout('flake', { epoch: 8.64e15 - 1 }).end.getTime(), 8.64e15)
})
