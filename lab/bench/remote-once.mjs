// RemoteFlakeId compared with its alternatives, in a separate process: `node remote-once.mjs KIND URL REDIS` prints one number,
// or a list of two. The two of a list alternate in bursts, so a noisy machine disturbs both alike. The kinds are at the end.

import { setImmediate as turn } from 'node:timers/promises'
import FlakeId from 'flakeforge'
import { RemoteFlakeId } from 'flakeforge/remote'
import { Redis } from 'ioredis'
import report from './report.js'

const { median } = report
const CALLS = 1500 // of a burst: a FlakeId has 4,096 IDs in a millisecond
const BURSTS = 200
const MANY = 10_000
const ROUNDS = 30
const WARM_UP = 5

const kept = { result: undefined } // the compiler could remove work whose result is not kept

function freshMillisecond() {
  const now = Date.now()
  while (Date.now() === now);
}

/** Time of a call in ns. */
function burst(call) {
  const start = process.hrtime.bigint()
  for (let i = 0; i < CALLS; i++) kept.result = call()
  return Number(process.hrtime.bigint() - start) / CALLS
}

async function calls(url) {
  const remote = await RemoteFlakeId.connect(url, { name: 'default', prefetch: 10_000 })
  const flake = new FlakeId()
  const times = [[], []]
  for (let i = -BURSTS; i < BURSTS; i++) {
    while (remote.stats.buffered < 2 * CALLS) await turn()
    freshMillisecond()
    const remotely = burst(() => remote.nextBigInt())
    freshMillisecond()
    const here = burst(() => flake.nextBigInt())
    if (i < 0) continue // these warm up
    times[0].push(remotely)
    times[1].push(here)
  }
  return times.map(median)
}

async function requests(url) {
  const remote = await RemoteFlakeId.connect(url, { name: 'default' })
  const before = remote.stats.requests
  const ids = await Promise.all(Array.from({ length: MANY }, () => remote.nextAsync()))
  const distinct = new Set(ids.map((id) => Buffer.from(id).readBigUInt64BE()))
  if (distinct.size !== MANY) throw new Error(`${MANY - distinct.size} duplicates`)
  return remote.stats.requests - before
}

/** IDs/s of each, alternating. */
async function rates(...works) {
  const measured = works.map(() => [])
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [i, work] of works.entries()) {
      const start = performance.now()
      await work()
      if (round >= 0) measured[i].push((MANY * 1000) / (performance.now() - start))
    }
  }
  return measured.map(median)
}

const times = (call) => Array.from({ length: MANY }, call)

async function awaited(url, redisUrl) {
  const remote = await RemoteFlakeId.connect(url, { name: 'default' })
  const redis = new Redis(redisUrl)
  return rates(
    () => Promise.all(times(() => remote.nextAsync())),
    () => Promise.all(times(() => redis.incr('awaited'))),
  )
}

async function batches(url, redisUrl) {
  const remote = await RemoteFlakeId.connect(url, { name: 'default' })
  const redis = new Redis(redisUrl)
  const pipelined = () => {
    const pipeline = redis.pipeline()
    for (let i = 0; i < MANY; i++) pipeline.incr('batches')
    return pipeline.exec()
  }
  return rates(() => remote.takeAsync(MANY), pipelined)
}

const KINDS = {
  /** ns of nextBigInt() out of the buffer, and of FlakeId's */
  calls,
  /** how many requests 10,000 nextAsync() at once need */
  requests,
  /** IDs/s: 10,000 nextAsync() at once, and 10,000 INCR that ioredis sends as one pipeline of promises */
  awaited,
  /** IDs/s: takeAsync(10_000), and a pipeline() of 10,000 INCR */
  batches,
}
const [kind, ...urls] = process.argv.slice(2)
console.log(JSON.stringify(await KINDS[kind](...urls)))
process.exit() // clients are still connected
