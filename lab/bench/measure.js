'use strict'

// One measurement in a separate process: `node measure.js KIND NAME` prints one number.
//
//   call NAME      ns per call: median of bursts, each started at a fresh millisecond and below the overflow limit
//   batch NAME     ns per ID of a batch, each call at a fresh millisecond
//   wait NAME      million IDs/s with 100 000 next(callback) outstanding: median of rounds
//   timers NAME    the most timers armed at the same time during this
//   heap NAME      bytes of heap for each Buffer held (needs --expose-gc)
//   loop NAME      at most how many MB of memory a million generators made in one loop add to the process

const { performance } = require('node:perf_hooks')
const { mostArmed } = process.argv[2] === 'timers' ? require('./armed-timers.js') : {} // before the code whose timers it counts
const { SEAL_BATCHES, SEAL_CALLS } = require('./seal-work.js')
const { BATCHES, CALLS, LOOPS, NEWER, SCOPES, flakeforge, flakeIdgen } = require('./work.js')

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1]
const generators = { flakeforge, 'flake-idgen': flakeIdgen }

function freshMillisecond() {
  const now = Date.now()
  while (Date.now() === now);
}

const kept = { result: undefined } // the compiler could remove work whose result is not kept

/** Median time of one call in ns: `calls` calls a burst. */
function bursts(call, calls, rounds) {
  const times = []
  for (let round = 0; round < rounds; round++) {
    freshMillisecond()
    const start = process.hrtime.bigint()
    for (let i = 0; i < calls; i++) kept.result = call()
    times.push(Number(process.hrtime.bigint() - start) / calls)
  }
  return median(times)
}

async function nsPerCall(name) {
  const call = await (CALLS[name] ?? SCOPES[name] ?? NEWER[name] ?? SEAL_CALLS[name])()
  bursts(call, 100, 200) // warm up
  const slow = bursts(call, 100, 20) > 1000
  return bursts(call, slow ? 200 : 1500, 200)
}

function nsPerIdOfBatch(name) {
  const [size, make] = BATCHES[name] ?? SEAL_BATCHES[name]
  const call = make()
  bursts(call, 1, 500) // warm up
  return bursts(call, 1, 500) / size
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

async function millionsPerSecond(name) {
  const generator = generators[name]()
  const rates = []
  for (let round = 0; round < 25; round++) {
    globalThis.gc?.() // so that this round does not pay for the round before it
    await pause(20)
    const start = performance.now()
    await allCallbacks(generator)
    rates.push(OUTSTANDING / (performance.now() - start) / 1000)
  }
  return median(rates.slice(5))
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
  call: nsPerCall,
  batch: nsPerIdOfBatch,
  wait: millionsPerSecond,
  timers: mostTimers,
  heap: bytesPerBuffer,
  loop: mostMemory,
}

async function main([kind, name]) {
  console.log(await KINDS[kind](name))
  process.exit() // a client of a store may still be connected
}

main(process.argv.slice(2))
