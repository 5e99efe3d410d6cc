// SegmentId on a Redis that this starts: the cost of an ID, and of fetching the next blocks while IDs are generated as
// fast as possible.

import { setImmediate as turn } from 'node:timers/promises'
import { SegmentId } from 'flakeforge/lease'
import { startRedis } from '../../__test__/servers/redis.mjs'
import report from './report.js'

const { median, ofProcess, printPromises, ROUNDS } = report
const BURST = 1000 // IDs generated in one turn of the event loop, as in a busy service
const SMALL = 10_000
const LARGE = 1_000_000
const SLICE_MS = 200 // the two alternate this often, so that a noisy machine disturbs both equally
const SLICES = 3 * ROUNDS

/** Million IDs/s over some time, and how many calls had to wait for the store. */
async function sustained(segment) {
  let made = 0
  let waited = 0
  const start = performance.now()
  while (performance.now() - start < SLICE_MS) {
    for (let i = 0; i < BURST; i++) {
      try {
        segment.next()
      } catch {
        await segment.nextAsync()
        waited++
      }
    }
    made += BURST
    await turn()
  }
  return { rate: made / (performance.now() - start) / 1000, waited: waited / made }
}

/** With blocks of both sizes, alternating. */
async function compared(url) {
  const small = await SegmentId.open(url, { name: 'small', block: SMALL })
  const large = await SegmentId.open(url, { name: 'large', block: LARGE })
  const measured = { small: [], large: [] }
  for (let i = -2; i < SLICES; i++) {
    const [one, other] = [await sustained(small), await sustained(large)]
    if (i < 0) continue // this round only warms up
    measured.small.push(one)
    measured.large.push(other)
  }
  await Promise.all([small.close(), large.close()])
  return measured
}

const CALLS = ['Date.now', 'nextBigInt: SegmentId', 'next: SegmentId', 'takeBigInts(1000): SegmentId']

/** ns of each call, alternating. */
function calls() {
  const measured = CALLS.map(() => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, name] of CALLS.entries()) measured[i].push(ofProcess('measure.js', 'call', name))
  }
  return measured.map(median)
}

export async function run() {
  const redis = await startRedis()
  try {
    process.env.BENCH_STORE = redis.url
    const [now, nextBigInt, next, take] = calls()
    const { small, large } = await compared(redis.url)
    const rate = (measured) => median(measured.map((one) => one.rate))
    const ratio = median(small.map((one, round) => one.rate / large[round].rate))
    console.log(`\nSegmentId on Redis, medians\n`)
    console.log(
      `nextBigInt() ${nextBigInt.toFixed(1)} ns, next() ${next.toFixed(1)} ns, Date.now() ${now.toFixed(1)} ns`,
    )
    console.log(
      `next(): ${rate(small).toFixed(1)} M IDs/s with blocks of ${SMALL}, ${rate(large).toFixed(1)} of ${LARGE}`,
    )
    printPromises([
      ['SegmentId nextBigInt() / Date.now()', () => nextBigInt / now, 0.4],
      ['SegmentId takeBigInts(1000), per ID / nextBigInt()', () => take / 1000 / nextBigInt, 0.5],
      ['SegmentId, M IDs/s, blocks of 10 000', () => rate(small), 5, 'higher'],
      ['… / blocks of a million', () => ratio, 0.9, 'higher'],
      ['… share of calls that wait for the store', () => median(small.map((one) => one.waited)), 0.001],
    ])
  } finally {
    await redis.stop()
  }
}
