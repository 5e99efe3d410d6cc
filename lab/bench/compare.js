'use strict'

// `node lab/bench/compare.js`: how ID generators behave in difficult situations. Each package is run to find out. The
// table in docs/start/comparison.md is its output.

const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads')

const FlakeId = require('../..')
const FlakeIdgen = require('flake-idgen')
const { Snowflake } = require('@sapphire/snowflake')
const { Worker: SnowflakeUuid } = require('snowflake-uuid')

/** How each package creates a generator for node 5 (or another), and one ID as a bigint. */
const PACKAGES = {
  flakeforge: (node = 5, options = {}) => {
    const generator = new FlakeId({ id: node, ...options })
    return () => generator.nextBigInt()
  },
  'flake-idgen': (node = 5) => {
    const generator = new FlakeIdgen({ id: node })
    return () => generator.next().readBigUInt64BE()
  },
  '@sapphire/snowflake': (node = 5) => {
    const generator = new Snowflake(0)
    generator.workerId = node
    return () => generator.generate()
  },
  'snowflake-uuid': (node = 5) => {
    const generator = new SnowflakeUuid(node, 1)
    return () => generator.nextId()
  },
}

/** Makes all the calls. Returns the IDs and the last error thrown. */
function collect(calls) {
  const ids = []
  let error
  for (const call of calls) {
    try {
      ids.push(call())
    } catch (thrown) {
      error = thrown
    }
  }
  return { ids, error }
}

const repeated = (call, n) => Array.from({ length: n }, () => call)
const duplicates = (ids) => ids.length - new Set(ids).size

function verdict({ ids, error }) {
  const count = duplicates(ids)
  if (count > 0) return `${count} duplicates`
  if (error !== undefined) return `no duplicates; throws ${error.code ?? ''}`.trim()
  return 'no duplicates'
}

function freshMillisecond() {
  const now = Date.now()
  while (Date.now() === now);
}

const CHECKS = {
  '2 generators, one node, 2 000 IDs': (make) => {
    const [a, b] = [make(), make()]
    freshMillisecond()
    return verdict(collect(Array.from({ length: 2000 }, (_, i) => (i % 2 ? a : b))))
  },
  'a generator for each of 200 IDs': (make) => {
    freshMillisecond()
    return verdict(collect(Array.from({ length: 200 }, () => () => make()())))
  },
  '4 worker threads, one node, 8 000 IDs': async (_make, name) => {
    // All start in the same millisecond, like requests that one event triggered.
    const at = Date.now() + 1000
    const threads = Array.from({ length: 4 }, () => new Worker(__filename, { workerData: { name, at } }))
    const batches = await Promise.all(threads.map((thread) => new Promise((done) => thread.once('message', done))))
    return verdict({ ids: batches.flat() })
  },
  '20 000 IDs as fast as it can': (make) => {
    const call = make()
    freshMillisecond()
    return verdict(collect(repeated(call, 20_000)))
  },
  'the clock steps back 5 ms, then goes on': (make, name) => {
    const real = Date.now
    let now = real()
    const call = name === 'flakeforge' ? make(6, { clock: () => now }) : make(6)
    Date.now = () => now
    try {
      const steps = [0, -5, 1, 1, 1, 1, 1, 1]
      const results = steps.map((step) => {
        now += step
        return collect(repeated(call, 10))
      })
      return verdict({ ids: results.flatMap((r) => r.ids), error: results.find((r) => r.error)?.error })
    } finally {
      Date.now = real
    }
  },
  'node number 1029, where 1023 is the last': (make) => {
    const nodeBits = (id) => id & (1023n << 12n)
    try {
      const isNode5 = nodeBits(make(1029)()) === nodeBits(make(5)())
      return isNode5 ? 'taken, makes the IDs of node 5' : 'taken'
    } catch (error) {
      return `refused${error.code ? `: ${error.code}` : ''}`
    }
  },
}

async function main() {
  for (const [check, run] of Object.entries(CHECKS)) {
    console.log(check)
    for (const [name, make] of Object.entries(PACKAGES)) console.log(`  ${name.padEnd(20)} ${await run(make, name)}`)
  }
}

if (isMainThread) {
  main()
} else {
  const call = PACKAGES[workerData.name]()
  call() // the first call also compiles, and takes longer than the rest
  while (Date.now() < workerData.at);
  parentPort.postMessage(collect(repeated(call, 2000)).ids)
}
