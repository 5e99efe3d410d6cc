// What many of something cost in one process: `node growth-once.mjs KIND COUNT [STORE]` prints { ms, cpuMs, mib } for all of them
// together, and what else the kind measures.

import { createRequire } from 'node:module'

const [kind, given, store] = process.argv.slice(2)
const count = Number(given)
const require = createRequire(import.meta.url)
const CALLS = 200_000

/** Room for 16,384 nodes, so that each generator has its own, and members find a free one soon. */
const WIDE = {
  epoch: 1577836800000,
  fields: [
    ['timestamp', 40],
    ['node', 14],
    ['counter', 10],
  ],
}

const kept = { id: undefined } // the compiler could remove work whose result is not kept

/** The time of an ID in ns, from each generator in turn. */
function nsEach(generators) {
  const take = (ids) => {
    for (let i = 0; i < ids; i++) kept.id = generators[i % generators.length].nextBigInt()
  }
  take(CALLS) // warm up
  const start = process.hrtime.bigint()
  take(CALLS)
  return Number(process.hrtime.bigint() - start) / CALLS
}

/** Calls that wait all at once. */
const waiting = (generator) =>
  new Promise((resolve, reject) => {
    let missing = count
    const callback = (error) => {
      if (error) reject(error)
      else if (--missing === 0) resolve()
    }
    for (let i = 0; i < count; i++) generator.next(callback)
  })

let repeated = 0

/** A store that a thousand members ask at once may not answer each of them within 10 s. Such a member tries again. */
async function joined(FlakeId) {
  for (;;) {
    try {
      return await FlakeId.join(store, { group: 'bench', layout: WIDE })
    } catch (error) {
      if (error.code !== 'ERR_FLAKE_STORE') throw error
      repeated++
    }
  }
}

/** For each kind: what is loaded before, the measured work, and what is measured after it. */
const KINDS = {
  generators: {
    prepare: () => require('../..'),
    // They may run ahead of the clock, so that one alone does not wait for it.
    work: (FlakeId) =>
      Array.from(
        { length: count },
        (_, node) => new FlakeId({ layout: WIDE, node, maxAheadMs: Number.POSITIVE_INFINITY }),
      ),
    finish: (generators) => ({ nsEach: nsEach(generators) }),
  },
  'next(callback)': { prepare: () => new (require('../..'))({ id: 5 }), work: waiting },
  'next(callback), flake-idgen': { prepare: () => new (require('flake-idgen'))({ id: 5 }), work: waiting },
  members: {
    prepare: async () => {
      const FlakeId = require('../..')
      if (!store.startsWith('file:')) await FlakeId.createGroup(store, { group: 'bench', layout: WIDE })
      return FlakeId
    },
    work: (FlakeId) => Promise.all(Array.from({ length: count }, () => joined(FlakeId))),
    finish: () => ({ repeated }), // the end of the process ends the members
  },
}

async function main() {
  const { prepare, work, finish = () => ({}) } = KINDS[kind]
  const prepared = await prepare()
  globalThis.gc()
  const before = process.memoryUsage.rss()
  const cpu = process.cpuUsage()
  const start = performance.now()
  const made = await work(prepared)
  const ms = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  const mib = process.resourceUsage().maxRSS / 1024 - before / 2 ** 20
  console.log(JSON.stringify({ ms, cpuMs: (user + system) / 1000, mib, ...(await finish(made)) }))
  process.exit() // a client of a store may still be connected
}

main()
