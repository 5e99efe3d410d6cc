// Times in the wrong unit, where the layout itself would express them: seconds, µs, ns, and times that do not count from 1970.
// And times as Dates and Temporal's instants, which have no unit.

import { spawnSync } from 'node:child_process'
import test from 'ava'
import { FlakeId, numberOf, throwsCode } from '../support/index.mjs'

const { Layout, layouts } = FlakeId
const MS = 1_780_000_000_000 // 2026-05-28T20:26:40Z
const LONG = new Layout({ name: 'long', fields: [['timestamp', 60], ['counter', 4]] }) // biome-ignore format: one line

/** The layouts whose times include those of 1970, so that nothing else refuses such numbers. */
const OF_1970 = [layouts.flake, layouts.mastodon, layouts.tid, layouts.chronicle, layouts['chronicle-micros'], LONG]

const WRONG = [
  [MS / 1000, /seconds: give 1780000000000,/],
  [MS / 1000 + 0.25, /seconds/],
  [String(MS / 1000), /seconds/],
  [BigInt(MS), /milliseconds: give 1780000000000000000n,/],
  [BigInt(MS) / 1000n, /seconds: give 1780000000000000000n,/],
  [BigInt(MS) * 1000n, /microseconds: give 1780000000000000000n,/],
  [2026, /a year/],
  [20260131, /a date/],
]

for (const layout of OF_1970) {
  test(`${layout.name}: encode and range refuse a time in another unit, and name the unit`, (t) => {
    for (const [time, message] of WRONG) {
      const error = throwsCode(t, () => layout.encode({ timestamp: time }), 'ERR_FLAKE_TIME_RANGE', RangeError)
      t.regex(error.message, message)
      if (typeof time === 'string') continue
      for (const [from, to] of [[time], [time, new Date(MS)], [new Date(0), time]]) {
        const refused = throwsCode(t, () => layout.range(from, to), 'ERR_FLAKE_TIME_RANGE', RangeError)
        t.regex(refused.message, message)
      }
    }
  })

  test(`${layout.name}: a Date has no unit, parts that agree with a tick are not doubted, and 0 is the beginning`, (t) => {
    const early = new Date(MS / 1000)
    const parts = layout.decode(layout.encode({ date: early }))
    t.is(parts.date.getTime(), early.getTime())
    t.deepEqual(layout.decode(layout.encode(parts)), parts)
    t.notThrows(() => layout.encode({ timestamp: 0 }))
    t.notThrows(() => layout.range(0, MS))
    t.notThrows(() => layout.range(early))
  })
}

test('a number in the far future that no other unit explains is Unix ms', (t) => {
  t.is(LONG.decode(LONG.encode({ timestamp: 9e12 })).timestamp, 9e12)
  t.throws(() => LONG.encode({ timestamp: MS * 1000 }), { code: 'ERR_FLAKE_TIME_RANGE', message: /microseconds/ })
})

test('a layout whose epoch is before 1990 has times before 1990', (t) => {
  const gps = new Layout({ epoch: Date.UTC(1980, 0, 6), fields: [['timestamp', 48], ['node', 4], ['counter', 12]] }) // biome-ignore format: one line
  const early = Date.UTC(1985, 0)
  t.is(gps.decode(gps.encode({ timestamp: early })).timestamp, early)
})

// --- clocks, and times whose unit cannot be guessed: one warning for each source ---

function warningsOf(source) {
  const program = `
    const { FlakeId, layouts } = require('flakeforge')
    process.on('warning', ({ code, message }) => console.log(JSON.stringify([code, message])))
    ${source}`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', '-e', program], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line)) // biome-ignore format: one line
}

for (const [clock, message] of [
  ['() => Date.now() / 1000', /^clock must be Unix ms, .*It looks like seconds/],
  ['() => BigInt(Date.now())', /^clock must be Unix ns if it is a bigint, .*It looks like milliseconds/],
  ['() => performance.now()', /^clock must be Unix ms, .*performance\.now\(\)/],
  ['() => 86_400_123_456n', /^clock must be Unix ns.*process\.hrtime\(\)/],
]) {
  test(`clock: ${clock} is a warning, once`, (t) => {
    const warnings = warningsOf(`
      for (let i = 0; i < 3; i++) for (const layout of ['flake', 'chronicle', 'tid'])
        new FlakeId({ layout, id: i, clock: ${clock} }).next()`)
    t.is(warnings.length, 1, JSON.stringify(warnings))
    t.is(warnings[0][0], 'FLAKEFORGE_TIME')
    t.regex(warnings[0][1], message)
  })
}

test('encode and range warn of a time since a start, and of nothing else', (t) => {
  const early = warningsOf('layouts.flake.encode({ timestamp: 5023.4 }); layouts.tid.encode({ timestamp: 6000.5 })')
  t.is(early.length, 1)
  t.regex(early[0][1], /^timestamp must be Unix ms, and 5023\.4 is then 1970-01-01T00:00:05\.023Z.*performance\.now/)
  t.is(warningsOf('layouts.flake.range(5023.4, 6000.5)').length, 2)
  const usual = `
    const { flake, hazelcast } = layouts
    new FlakeId({ clock: Date.now }).next(); new FlakeId({ clock: () => BigInt(Date.now()) * 1_000_000n }).next()
    flake.encode({ timestamp: Date.now() }); flake.encode(flake.decode(5n)); flake.range(0, Date.now())
    hazelcast.range(0, Date.now()); new FlakeId({ epoch: Date.now() - 5, clock: Date.now }).next()`
  t.deepEqual(warningsOf(usual), [])
})

// --- ranges in layouts with ticks of less than a ms ---

for (const name of ['chronicle', 'chronicle-micros', 'tid']) {
  test(`${name}: a range covers whole milliseconds`, (t) => {
    const layout = layouts[name]
    const bounds = (from, to) => Object.values(layout.range(from, to)).map(numberOf)
    const [from, to] = [MS - 1000, MS - 1] // 23:59:59.999 of a day
    const expected = bounds(BigInt(from) * 1_000_000n, BigInt(MS) * 1_000_000n - 1n)
    t.deepEqual(bounds(from, to), expected)
    t.deepEqual(bounds(new Date(from), new Date(to)), expected)
    const [first, last] = [layout.decode(expected[0]), layout.decode(expected[1])]
    t.is(first.timestamp, from)
    const next = layout.decode(layout.encode({ tick: last.tick + 1n }))
    t.is(next.timestamp, MS, 'nothing is between two ranges')
    t.is(next.tick, layout.decode(layout.range(MS).min).tick)
  })
}

test('a bigint or a fraction of a ms is an instant, not a whole ms', (t) => {
  const { tid } = layouts
  const at = BigInt(MS) * 1_000_000n
  t.is(tid.decode(tid.range(at).max).tick, tid.decode(tid.range(at).min).tick)
  t.is(tid.decode(tid.range(MS + 0.5).max).timestamp, MS + 0.5)
})

// --- Temporal ---

/** What a Temporal.Instant has, as in Node.js 26; the tests of runtimes use the real one. */
const instantOf = (epochNanoseconds, tag = 'Temporal.Instant') => ({ epochNanoseconds, [Symbol.toStringTag]: tag })

for (const [kind, make] of [
  ['like an Instant', (ns) => instantOf(ns)],
  ['like a ZonedDateTime', (ns) => instantOf(ns, 'Temporal.ZonedDateTime')],
  ...(globalThis.Temporal === undefined
    ? []
    : [['real', (ns) => globalThis.Temporal.Instant.fromEpochNanoseconds(ns)]]),
]) {
  test(`Temporal, ${kind}: accepted wherever a Date is, with its nanoseconds`, (t) => {
    const ns = BigInt(MS) * 1_000_000n + 123_456n
    for (const layout of [layouts.flake, layouts.tid, layouts.chronicle, layouts.sonyflake]) {
      for (const name of ['timestamp', 'date'])
        t.deepEqual(layout.encode({ [name]: make(ns) }), layout.encode({ timestamp: ns }), `${layout.name} ${name}`)
      t.deepEqual(layout.range(make(ns), make(ns + 5_000_000n)), layout.range(ns, ns + 5_000_000n))
    }
    const epoch = make(BigInt(MS) * 1_000_000n)
    t.is(new Layout('flake', { epoch }).epoch, MS)
    t.is(new Layout({ epoch, fields: [['timestamp', 41], ['node', 11], ['counter', 12]] }).epoch, MS) // biome-ignore format: one line
    t.is(new FlakeId({ epoch: make(1_600_000_000_000_000_000n) }).epoch, 1_600_000_000_000)
    const error = throwsCode(t, () => new FlakeId({ epoch: make(ns) }), 'ERR_FLAKE_OPTION', RangeError)
    t.regex(error.message, /^epoch must be a whole number of Unix ms/)
  })
}

test('an object with epochNanoseconds that is not Temporal is refused', (t) => {
  const other = { epochNanoseconds: 5n }
  throwsCode(t, () => layouts.flake.encode({ timestamp: other }), 'ERR_FLAKE_OPTION', TypeError)
  throwsCode(t, () => layouts.flake.range(other), 'ERR_FLAKE_OPTION', TypeError)
})
