'use strict'

// What each piece of work costs in one process, compared with other packages.

const fs = require('node:fs')
const os = require('node:os')
const { median, ofProcess, printPromises, ROUNDS } = require('./report.js')
const { BATCHES, CALLS, LOOPS } = require('./work.js')
const { QUOTAS } = require('./waiting-threads.js')

const measurements = new Map()
const key = (kind, name) => `${kind} ${name}`
const value = (kind, name) => median(measurements.get(key(kind, name)))

function keep(kind, name, number) {
  const numbers = measurements.get(key(kind, name)) ?? []
  measurements.set(key(kind, name), [...numbers, number])
}

const measure = (kind, name) => keep(kind, name, ofProcess('measure.js', kind, name))

/** What IDs cost when several threads wait for them together: CPU, and waits. */
function measureThreads(name) {
  for (const threads of THREADS) {
    const { cpuNs, waits } = ofProcess('waiting-threads.js', name, threads)
    keep(`cpu of ${threads}`, name, cpuNs)
    keep(`waits of ${threads}`, name, waits)
  }
}

const PEERS = ['flakeforge', 'flake-idgen']
const THREADS = [1, 4]
const ALL = [
  ...Object.keys(CALLS).map((name) => ['call', name]),
  ...Object.keys(BATCHES).map((name) => ['batch', name]),
  ...Object.keys(LOOPS).map((name) => ['loop', name]),
  ...PEERS.flatMap((name) => ['wait', 'timers', 'heap'].map((kind) => [kind, name])),
]

/** A promise: a ratio and its bar. With `higher`, the ratio must not be below the bar; without, not above it. */
const call = (name) => value('call', name)
const batch = (name) => value('batch', name)
const base = (name) => call(`nextString('${name}'): flakeforge`)
const UNIQUEID = 'takeBigInts(4096), uniqueid'
const inDateNows = (name) => call(name) / call('Date.now')
const PROMISES = [
  ['next() / flake-idgen next()', () => call('next: flakeforge') / call('next: flake-idgen'), 0.5],
  ['next() / best plain JS', () => call('next: flakeforge') / call('next: plain JS'), 1],
  ['nextBigInt() / flake-idgen next()', () => call('nextBigInt: flakeforge') / call('next: flake-idgen'), 0.33],
  ['nextBigInt() / Date.now()', () => call('nextBigInt: flakeforge') / call('Date.now'), 0.9],
  [
    'nextNumber() / nextBigInt(), safe',
    () => call('nextNumber: flakeforge, safe') / call('nextBigInt: flakeforge, safe'),
    1.25,
  ],
  [
    'takeNumbers(4096) / takeBigInts(4096), safe',
    () => batch('takeNumbers(4096), safe') / batch('takeBigInts(4096), safe'),
    1.5,
  ],
  [
    "nextString() / biguint-format(next(), 'dec')",
    () => call('nextString: flakeforge') / call('nextString: flake-idgen'),
    0.02,
  ],
  ["format(id, 'dec') / biguint-format", () => call('format: flakeforge') / call('format: biguint-format'), 0.05],
  [
    'flakeforge/biguint-format / biguint-format',
    () => call('format: flakeforge/biguint-format') / call('format: biguint-format'),
    0.05,
  ],
  ...['flake', 'twitter', 'discord'].map((name) => [
    `decode(id) / @sapphire/snowflake deconstruct(id), ${name}`,
    () => call(`decode: flakeforge, ${name}`) / call(`decode: @sapphire/snowflake, ${name}`),
    1.05, // they are equally fast, and ours makes a Date besides
  ]),
  ['encode(parts) / Date.now()', () => inDateNows('encode: flakeforge'), 3.24],
  ['new FlakeId() / Date.now()', () => inDateNows('new: flakeforge'), 50],
  ['new FlakeId({ epoch }) / Date.now()', () => inDateNows('new, epoch: flakeforge'), 50],
  ['new FlakeId({ id }) / Date.now()', () => inDateNows('new, id: flakeforge'), 50],
  ['new FlakeId({ datacenter, worker }) / Date.now()', () => inDateNows('new, datacenter and worker: flakeforge'), 50],
  ...Object.keys(LOOPS).map((name) => [`MB that a million ${name} take`, () => value('loop', name), 100]),
  ['take(8) / 8 next()', () => call('take(8): flakeforge') / call('next: flakeforge') / 8, 1],
  ['take(4096), per ID / flake-idgen next()', () => batch('take(4096)') / call('next: flake-idgen'), 0.02],
  ['takeBigInts(65536), snowcast, ns per ID', () => batch('takeBigInts(65536), snowcast'), 2],
  ["nextString('base62') / nextString('base32')", () => base('base62') / base('base32'), 1.2],
  ["nextString('base58') / nextString('base32')", () => base('base58') / base('base32'), 1.2],
  [
    'takeStrings(4096) / nextString(), 4096 in a row',
    () => batch('takeStrings(4096)') / batch('nextString(), 4096 in a row'),
    0.7,
  ],
  [
    'takeStrings(4096) / take(4096), then format',
    () => batch('takeStrings(4096)') / batch('take(4096), then format'),
    0.5,
  ],
  ['SPREAD, more ns per ID', () => batch(`${UNIQUEID} spread`) - batch(`${UNIQUEID} sequential`), 1],
  ['heap per Buffer held / flake-idgen', () => value('heap', 'flakeforge') / value('heap', 'flake-idgen'), 1.01],
  ['timers armed, 100 000 next(cb) outstanding', () => value('timers', 'flakeforge'), 1],
  [
    'IDs/s, 100 000 next(cb) outstanding / flake-idgen',
    () => value('wait', 'flakeforge') / value('wait', 'flake-idgen'),
    1,
    'higher',
  ],
  ...Object.keys(QUOTAS).map((name) => [
    `waits per ID of 4 threads / of 1, ${name}`,
    () => value('waits of 4', name) / value('waits of 1', name),
    3,
  ]),
]

function printMeasured() {
  console.log(`\nMedians of ${ROUNDS} processes each, taking turns, Node ${process.version}\n`)
  for (const name of Object.keys(CALLS)) console.log(`${name.padEnd(38)} ${call(name).toFixed(1).padStart(8)} ns`)
  for (const name of Object.keys(BATCHES))
    console.log(`${name.padEnd(38)} ${batch(name).toFixed(2).padStart(8)} ns per ID`)
  for (const name of Object.keys(LOOPS))
    console.log(`${`a million ${name}`.padEnd(48)} ${value('loop', name).toFixed(0).padStart(8)} MB`)
  for (const name of PEERS) {
    console.log(
      `${`100 000 next(cb): ${name}`.padEnd(38)} ${value('wait', name).toFixed(2).padStart(8)} M IDs/s, ` +
        `${value('timers', name)} timers armed at most; ${value('heap', name).toFixed(1)} B of heap per Buffer`,
    )
  }
  for (const name of Object.keys(QUOTAS)) {
    const [one, four] = THREADS.map((threads) => value(`cpu of ${threads}`, name).toFixed(0))
    console.log(`${`waiting for ${name}`.padEnd(38)} ${one.padStart(8)} ns of CPU per ID, 4 threads ${four} ns`)
  }
}

function run() {
  for (let round = 1; round <= ROUNDS; round++) {
    process.stderr.write(`round ${round} of ${ROUNDS}\r`)
    for (const [kind, name] of ALL) measure(kind, name)
    for (const name of Object.keys(QUOTAS)) measureThreads(name)
  }
  printMeasured()
  printPromises(PROMISES)
}

/** Writes what the calls cost into docs/, and draws it. */
function draw() {
  const { MEASURED, writePictures } = require('../../scripts/pictures')
  const [{ model }, ...others] = os.cpus()
  const cpu = `${model.trim()} (${process.arch}, ${others.length + 1} cores)`
  const ns = Object.fromEntries(Object.keys(CALLS).map((name) => [name, Number(call(name).toFixed(1))]))
  const measured = { node: process.versions.node, cpu, rounds: ROUNDS, ns }
  fs.writeFileSync(MEASURED, `${JSON.stringify(measured, undefined, 2)}\n`)
  writePictures()
}

module.exports = { draw, run }
