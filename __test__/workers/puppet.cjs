'use strict'

// A process that generates IDs on request: each message is a call, and is answered with its result or its error. So a
// test knows the order in which the processes generated theirs. It generates no other IDs.

const path = require('node:path')

const FlakeId = require(path.join(__dirname, '..', '..'))
const lease = require(path.join(__dirname, '..', '..', 'dist', 'lease.cjs'))
let flake

const warnings = []
process.on('warning', ({ code, message }) => warnings.push({ code, message }))

const numberOf = (id) => String(Buffer.from(id).readBigUInt64BE())

const CALLS = {
  pid: () => process.pid,
  async open(options) {
    flake = new FlakeId(options)
  },
  async join(store, options) {
    flake = await FlakeId.join(store, options)
    return flake.slot
  },
  async count(store, options) {
    flake = await lease.SegmentId.open(store, options)
  },
  async nextOfCounter() {
    return numberOf(await flake.nextAsync())
  },
  take: (n) => [...flake.takeBigInts(n)].map(String),
  next: () => String(flake.nextBigInt()),
  nextAsync: async () => flake.decode(await flake.nextAsync()) && String(flake.nextBigInt()),
  state: () => ({ state: flake.state, slot: flake.slot, id: flake.id }),
  destroy: () => flake.destroy(),
  close: () => flake.close(),
  detach: () => flake.detach(),
  attach: () => flake.attach(),
  warnings: () => warnings,
  /** Generates IDs for this many ms, as fast as it can. */
  run(ms) {
    const ids = []
    for (const until = performance.now() + ms; performance.now() < until; ) ids.push(flake.takeBigInts(1000))
    return ids.flatMap((batch) => Array.from(batch, String))
  },
}

const plain = ({ code, message, path, theirs, ours, retryAfterMs, behindMs, retryAt }) => ({
  code,
  message,
  path,
  theirs,
  ours,
  retryAfterMs,
  behindMs,
  retryAt,
})

process.on('message', async ([call, ...args]) => {
  try {
    process.send({ value: await CALLS[call](...args) })
  } catch (error) {
    process.send({ error: plain(error) })
  }
})
process.on('disconnect', () => process.exit())
