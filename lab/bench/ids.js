'use strict'

// What each piece of work costs in one process, compared with other packages.

const fs = require('node:fs')
const os = require('node:os')
const { ofCommand, onOneCore, printVerdicts, ROUNDS } = require('./report.js')
const { BATCHES, CALLS, LOOPS } = require('./work.js')
const { QUOTAS } = require('./waiting-threads.js')

/** Processes to run, by key: the script and its arguments. */
const jobs = new Map()
/** What they printed, by runtime and key. */
const results = new Map()

/** A measurement in separate processes. Returns its results on a runtime, one for each round. */
function measured(script, ...args) {
  const key = [script, ...args].join('|')
  jobs.set(key, [script, ...args])
  return (node) => results.get(node).get(key)
}

/**
 * Two pieces of work in turns in one process: their ratio. A busy neighbour slows both alike if they are of one kind. Reading
 * the clock is not: it mostly waits for one instruction, so beside a neighbour all else takes up to 1.5 times as long compared
 * with it: the bar beside Date.now() is for a quiet machine.
 */
function ratio(ours, theirs, times = 1) {
  const pairs = measured('measure.js', 'pair', ...ours, ...theirs)
  return (node) => fasterHalf(pairs(node)).map(([a, b]) => a / b / times)
}

/** The faster half of the rounds, in which the neighbours did least. */
function fasterHalf(pairs) {
  const fastest = pairs.toSorted((a, b) => a[0] * a[1] - b[0] * b[1])
  return fastest.slice(0, Math.ceil(pairs.length / 2))
}

/** The ratio of the two numbers that a process prints. */
const ofTwo = (pairs) => (node) => pairs(node).map(([ours, theirs]) => ours / theirs)

/** The ratio of two measurements that need a process each. */
const apart = (ours, theirs) => (node) => ours(node).map((number, i) => number / theirs(node)[i])

const call = (name) => ['call', name]
const batch = (name) => ['batch', name]
const one = (kind, ...names) => measured('measure.js', kind, ...names)
const beside = (kind, other) => ratio(call(`${kind}: flakeforge`), call(`${kind}: ${other}`))
const besidePlain = (kind, name = '') => ratio(call(`${kind}: flakeforge${name}`), call(`${kind}: plain JS`))
const base = (name) => call(`nextString('${name}'): flakeforge`)

const THREADS = [1, 4]
const UNIQUEID = 'takeBigInts(4096), uniqueid'

/** What IDs cost when several threads wait for them together. */
const waiting = (name, threads, field) => {
  const each = measured('waiting-threads.js', name, threads)
  return (node) => each(node).map((result) => result[field])
}

const lowest = (values) => Math.min(...values)

/** Figures to print, in ns: how each is measured. A busy neighbour only adds to them, so the lowest of the rounds counts. */
const TABLE = [
  ...Object.keys(CALLS).map((name) => [name, one('call', name)]),
  ...Object.keys(BATCHES).map((name) => [`${name}, per ID`, one('batch', name)]),
  ...Object.keys(QUOTAS).flatMap((name) =>
    THREADS.map((threads) => [`CPU, ${threads} waiting for ${name}`, waiting(name, threads, 'cpuNs')]),
  ),
]

/**
 * Promises: the values of the rounds on a runtime, and the bar. With `higher`, they must not be below it. The bars of pairs are
 * at least a quarter above what a quiet machine usually measures, so that a busy neighbour does not change the verdict.
 */
const PROMISES = [
  ['next() / flake-idgen next()', ratio(call('next: flakeforge'), call('next: flake-idgen')), 0.9], // half on Node.js 20
  ['next() / best plain JS', besidePlain('next'), 0.8],
  ['nextBigInt() / Date.now()', ratio(call('nextBigInt: flakeforge'), call('Date.now')), 0.85],
  ['nextBigInt() / flake-idgen next()', ratio(call('nextBigInt: flakeforge'), call('next: flake-idgen')), 0.55],
  ['nextBigInt() / best plain JS next()', ratio(call('nextBigInt: flakeforge'), call('next: plain JS')), 0.8],
  [
    'nextNumber() / nextBigInt(), safe',
    ratio(call('nextNumber: flakeforge, safe'), call('nextBigInt: flakeforge, safe')),
    1.25,
  ],
  [
    'takeNumbers(4096) / takeBigInts(4096), safe',
    ratio(batch('takeNumbers(4096), safe'), batch('takeBigInts(4096), safe')),
    1.7,
  ],
  [
    "nextString() / biguint-format(next(), 'dec')",
    ratio(call('nextString: flakeforge'), call('nextString: flake-idgen')),
    0.02,
  ],
  ["format(id, 'dec') / biguint-format", ratio(call('format: flakeforge'), call('format: biguint-format')), 0.05],
  ['format(bigint) / format(Buffer)', ratio(call('format, bigint: flakeforge'), call('format: flakeforge')), 1.5],
  ['parse(text) / BigInt(text) and 8 bytes', beside('parse', 'plain JS'), 2.5],
  [
    'flakeforge/biguint-format / biguint-format',
    ratio(call('format: flakeforge/biguint-format'), call('format: biguint-format')),
    0.05,
  ],
  ...['flake', 'twitter', 'discord'].map((name) => [
    `decode(id) / @sapphire/snowflake deconstruct(id), ${name}`,
    ratio(call(`decode: flakeforge, ${name}`), call(`decode: @sapphire/snowflake, ${name}`)),
    1.3, // they are equally fast, and ours makes a Date besides
  ]),
  ['encode(parts) / plain JS', besidePlain('encode'), 1.25],
  ...['uniqueid', 'chronicle'].flatMap((name) => [
    [`decode(id), ${name} / plain JS, flake`, besidePlain('decode', `, ${name}`), 1.2],
    [`encode(parts), ${name} / plain JS, flake`, besidePlain('encode', `, ${name}`), 1.5],
  ]),
  // Without options, ours reads the environment as well, and an epoch is checked: these have figures, but no bar.
  ["new FlakeId({ id }) / flake-idgen's constructor", beside('new, id', 'flake-idgen'), 5],
  ["new FlakeId({ datacenter, worker }) / flake-idgen's", beside('new, datacenter and worker', 'flake-idgen'), 6],
  ...Object.keys(LOOPS).map((name) => [`MB that a million ${name} take`, one('loop', name), 100]),
  ['take(8) / 8 next()', ratio(call('take(8): flakeforge'), call('next: flakeforge'), 8), 1],
  [
    'takeBigInts(9) / takeBigInts(8)', // V8 keeps arrays of up to 64 bytes on its heap, and allocates for longer ones
    ratio(call('takeBigInts(9): flakeforge'), call('takeBigInts(8): flakeforge')),
    3.2,
  ],
  ['take(4096), per ID / flake-idgen next()', ratio(batch('take(4096)'), call('next: flake-idgen')), 0.025],
  ['takeBigInts(65536), snowcast, ns per ID', one('batch', 'takeBigInts(65536), snowcast'), 2],
  ["nextString('base62') / nextString('base32')", ratio(base('base62'), base('base32')), 1.3],
  ["nextString('base58') / nextString('base32')", ratio(base('base58'), base('base32')), 1.3],
  [
    'takeStrings(4096) / nextString(), 4096 in a row',
    ratio(batch('takeStrings(4096)'), batch('nextString(), 4096 in a row')),
    0.7,
  ],
  [
    'takeStrings(4096) / take(4096), then format',
    ratio(batch('takeStrings(4096)'), batch('take(4096), then format')),
    0.5,
  ],
  ['SPREAD / sequential, per ID', ratio(batch(`${UNIQUEID} spread`), batch(`${UNIQUEID} sequential`)), 1.5],
  ['heap per Buffer held / flake-idgen', apart(one('heap', 'flakeforge'), one('heap', 'flake-idgen')), 1.05],
  ['timers armed, 100 000 next(cb) outstanding', one('timers', 'flakeforge'), 1],
  [
    'IDs/s, 100 000 next(cb) outstanding / flake-idgen',
    ofTwo(one('wait', 'flakeforge', 'flake-idgen')),
    0.5, // 0.6 to 2.1: a round takes 30 ms, or 130 while the garbage collector marks
    'higher',
  ],
  ...Object.keys(QUOTAS).map((name) => [
    `waits per ID of 4 threads / of 1, ${name}`,
    apart(waiting(name, 4, 'waits'), waiting(name, 1, 'waits')),
    3,
  ]),
]

/** The measurements of one thread. */
const ALONE = ['call', 'batch', 'pair']

function measureAll(runtimes) {
  const pin = onOneCore()
  for (const { name } of runtimes) results.set(name, new Map())
  for (let round = 1; round <= ROUNDS; round++) {
    process.stderr.write(`round ${round} of ${ROUNDS}\r`)
    measureRound(runtimes, pin)
  }
}

/** One more result of each measurement on each runtime. */
function measureRound(runtimes, pin) {
  for (const [key, job] of jobs) {
    const prefix = ALONE.includes(job[1]) ? pin : [] // others also measure what the runtime's threads do
    for (const { name, command } of runtimes) {
      const known = results.get(name).get(key) ?? []
      results.get(name).set(key, [...known, ofCommand([...prefix, ...command], ...job)])
    }
  }
}

const NAME_WIDTH = 52

function printTable(runtimes) {
  console.log(
    `\nns, lowest of ${ROUNDS} processes`.padEnd(NAME_WIDTH + 1) +
      runtimes.map(({ name }) => name.padStart(10)).join(''),
  )
  for (const [name, values] of TABLE) {
    const columns = runtimes.map((runtime) => lowest(values(runtime.name)).toFixed(1).padStart(10))
    console.log(name.padEnd(NAME_WIDTH) + columns.join(''))
  }
}

/** @param runtimes what to measure, in turns */
function run(runtimes) {
  measureAll(runtimes)
  printTable(runtimes)
  for (const { name } of runtimes) {
    console.log(`\n${name}`)
    printVerdicts(PROMISES.map(([what, values, ...bar]) => [what, values(name), ...bar]))
  }
}

/** Measures on several versions of Node.js, and writes what the calls cost into the documents, with the machine. */
function writeFigures(nodes) {
  const { MEASURED, writeAll } = require('../../scripts/pictures')
  run(nodes)
  const [{ model }, ...others] = os.cpus()
  const cpu = `${model.trim()} (${process.arch}, ${others.length + 1} cores)`
  const [{ node, ns }, ...more] = nodes.map(({ name }) => ({ node: name, ns: nsOf(name) }))
  fs.writeFileSync(MEASURED, `${JSON.stringify({ node, cpu, rounds: ROUNDS, ns, more }, undefined, 2)}\n`)
  writeAll()
}

const nsOf = (node) =>
  Object.fromEntries([
    ...Object.keys(CALLS).map((name) => [name, nsOn(node, 'call', name)]),
    ...Object.keys(BATCHES).map((name) => [name, nsOn(node, 'batch', name)]),
  ])
const nsOn = (node, kind, name) => Number(lowest(one(kind, name)(node)).toFixed(1))

module.exports = { jobs, run, writeFigures }
