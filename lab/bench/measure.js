'use strict'

// One measurement in a separate process: `node measure.js KIND NAME` prints one number, and `node measure.js pair KIND NAME
// KIND NAME` two. The kinds are at the end.

const { performance } = require('node:perf_hooks')
const { mostArmed } = process.argv[2] === 'timers' ? require('./armed-timers.js') : {} // before the code whose timers it counts
const { SEAL_BATCHES, SEAL_CALLS } = require('./seal-work.js')
const { BATCHES, CALLS, LOOPS, NEWER, SCOPES, flakeforge, flakeIdgen } = require('./work.js')

const sorted = (numbers) => numbers.sort((a, b) => a - b)
const median = (numbers) => sorted(numbers)[numbers.length >> 1]
/** A neighbour on the same core only makes a burst longer, so the shortest ones tell what the work costs. */
const tenth = (numbers) => sorted(numbers)[Math.floor(numbers.length / 10)]
const generators = { flakeforge, 'flake-idgen': flakeIdgen }

function freshMillisecond() {
  const now = Date.now()
  while (Date.now() === now);
}

/** How many bursts measure a call; a batch is measured by more. A test has a few, to see that each can be measured. */
const BURSTS = Number(process.env.BENCH_BURSTS ?? 200)

const kept = { result: undefined } // the compiler could remove work whose result is not kept

/** Time of one call in ns: a burst of `calls` calls. */
function burst({ call, calls }) {
  freshMillisecond()
  const start = process.hrtime.bigint()
  for (let i = 0; i < calls; i++) kept.result = call()
  return Number(process.hrtime.bigint() - start) / calls
}

/** The tenth percentiles of pieces of work whose bursts take turns. */
function inTurns(works, rounds) {
  const times = works.map(() => [])
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? works : works.toReversed()
    for (const work of order) times[works.indexOf(work)].push(burst(work))
  }
  return works.map((work, i) => tenth(times[i]) / work.size)
}

async function callOf(name) {
  const call = await (CALLS[name] ?? SCOPES[name] ?? NEWER[name] ?? SEAL_CALLS[name])()
  inTurns([{ call, calls: 100, size: 1 }], BURSTS) // warm up
  const [ns] = inTurns([{ call, calls: 100, size: 1 }], 20)
  return { call, calls: ns > 1000 ? 200 : 1500, size: 1, rounds: BURSTS }
}

function batchOf(name) {
  const [size, make] = BATCHES[name] ?? SEAL_BATCHES[name]
  const work = { call: make(), calls: 1, size, rounds: BURSTS * 2.5 }
  inTurns([work], work.rounds) // warm up
  return work
}

const WORKS = { call: callOf, batch: batchOf }

async function ns(kind, name) {
  const work = await WORKS[kind](name)
  return inTurns([work], work.rounds)[0]
}

async function nsOfPair(kind, name, otherKind, otherName) {
  const works = [await WORKS[kind](name), await WORKS[otherKind](otherName)]
  return inTurns(works, Math.max(...works.map(({ rounds }) => rounds)))
}

const OUTSTANDING = 100_000

function allCallbacks(generator) {
  return new Promise((resolve, reject) => {
    let missing = OUTSTANDING
    const callback = (error) => {
      if (error) reject(error)
      else if (--missing === 0) resolve()
    }
    for (let i = 0; i < OUTSTANDING; i++) generator.next(callback)
  })
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function millionsPerSecond(generator) {
  globalThis.gc?.() // so that this round does not pay for the round before it
  await pause(20)
  const start = performance.now()
  await allCallbacks(generator)
  return OUTSTANDING / (performance.now() - start) / 1000
}

async function ratesInTurns(...names) {
  const made = names.map((name) => generators[name]())
  const rates = names.map(() => [])
  for (let round = 0; round < 25; round++) {
    for (const [i, generator] of made.entries()) rates[i].push(await millionsPerSecond(generator))
  }
  return rates.map((all) => median(all.slice(5)))
}

async function mostTimers(name) {
  await allCallbacks(generators[name]())
  return mostArmed()
}

async function bytesPerBuffer(name) {
  const generator = generators[name]()
  const held = new Array(200_000).fill(undefined)
  const fill = (from, to) => {
    for (let i = from; i < to; i++) {
      if (i % 2000 === 0) freshMillisecond()
      held[i] = generator.next()
    }
  }
  fill(0, 4000) // so that what the first calls compile and cache does not count
  globalThis.gc()
  const before = process.memoryUsage().heapUsed
  fill(4000, held.length)
  globalThis.gc()
  return (process.memoryUsage().heapUsed - before) / (held.length - 4000)
}

function mostMemory(name) {
  const FlakeId = require('../..')
  const before = process.memoryUsage().rss
  for (let i = 0; i < 1_000_000; i++) kept.result = new FlakeId(LOOPS[name])
  return process.resourceUsage().maxRSS / 1024 - before / 1024 / 1024
}

const KINDS = {
  /**
   * ns per call: the tenth percentile of bursts, each started at a fresh millisecond, shorter than a time slice of the
   * scheduler, and below the overflow limit
   */
  call: (name) => ns('call', name),
  /** ns per ID of a batch, each call at a fresh millisecond */
  batch: (name) => ns('batch', name),
  /** the same for two calls or batches whose bursts alternate, as [ns, ns] */
  pair: nsOfPair,
  /** million IDs/s with 100,000 next(callback) outstanding, of generators whose rounds take turns: a median for each */
  wait: ratesInTurns,
  /** the maximum of timers armed at the same time during `wait` */
  timers: mostTimers,
  /** bytes of heap for each Buffer held (needs --expose-gc) */
  heap: bytesPerBuffer,
  /** the maximum of MB of memory that a million generators created in one loop add to the process */
  loop: mostMemory,
}

async function main([kind, ...names]) {
  console.log(JSON.stringify(await KINDS[kind](...names)))
  process.exit() // a client of a store may still be connected
}

if (require.main === module) main(process.argv.slice(2))

module.exports = { nsOfPair }
