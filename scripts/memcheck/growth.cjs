'use strict'

// Repeats the same operations, collects the garbage, and has the sanitizer record the memory in use: before and after
// the second half. Growth between the two is memory that is still referenced and never freed, such as a generator in
// the addon for each `new FlakeId`. `node --expose-gc growth.cjs FOLDER [SUBJECT]` prints a line of JSON for each
// subject; reports.js reads the sanitizer's output. This file itself keeps nothing from a round.

const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { setImmediate: turn } = require('node:timers/promises')
const { Worker } = require('node:worker_threads')
const { probe } = require('./probe.cjs')

const [folder, chosen] = process.argv.slice(2)
const FlakeId = chosen === 'probe' ? undefined : require(path.join(folder, 'dist', 'index.cjs'))
const files = path.join(folder, 'target', 'growth')
const TIME = 1_700_000_000_000
const COLLECTIONS = 4 // memory that a finalizer frees may need another one
/** Rounds between two collections: so few that the table of what lives has room for all their garbage. */
const PER_COLLECTION = 20

const ownClock = () => new FlakeId({ clock: () => TIME, id: 5 })

function refusal() {
  const flake = new FlakeId({ clock: () => TIME, seqMask: 1 })
  flake.take(2)
  for (const wrong of [
    () => flake.next(),
    () => flake.take(1),
    () => FlakeId.parse('x'),
    () => new FlakeId({ id: -1 }),
  ])
    try {
      wrong()
    } catch (error) {
      if (error.code === undefined) throw error
    }
}

function batches() {
  const flake = new FlakeId({ maxWaitMs: 60_000 })
  const text = flake.nextString('base62')
  flake.decode(FlakeId.parse(text, 'base62'))
  FlakeId.format(flake.next(), 'dec')
  return [flake.take(20), flake.takeBigInts(20), flake.takeStrings(20, 'hex'), flake.nextBigInt()]
}

async function slot() {
  const flake = await FlakeId.join(`file:${files}`, { group: 'growth' })
  flake.next()
  await flake.close()
}

/** A database in this process, and a member of it that joins and leaves. */
const records = new Map()
const database = {
  read: async (_, names) => {
    const values = names.map((name) => records.get(name) ?? null)
    return { now: Date.now(), identity: { history: 'growth', process: 'growth' }, values }
  },
  swap: async (_, name, from, to) => (records.get(name) ?? null) === from && records.set(name, to) === records,
  names: async () => [...records.keys()],
}

async function member() {
  const { recordStore } = require(path.join(folder, 'dist', 'lease.cjs'))
  const flake = await FlakeId.join(recordStore(database), { slots: 8, durable: true })
  flake.next()
  await flake.close()
}

async function thread() {
  const source = `new (require(${JSON.stringify(folder)}))({ clock: () => ${TIME} }).take(5)`
  await once(new Worker(source, { eval: true }), 'exit')
}

/** The operations, and their counts: as many before the first measurement, so that tables have their size. */
const SUBJECTS = {
  generators: [5000, () => ownClock().next()],
  layouts: [3000, () => new FlakeId.Layout('flake', { idOffset: 5n }).encode({ timestamp: TIME })],
  batches: [2000, batches],
  refusals: [1000, refusal],
  'shared files': [200, () => new FlakeId({ id: 7, shared: path.join(files, 'shared') }).next()],
  slots: [400, slot], // enough that the members of the last seconds, which timers still hold, do not count
  members: [200, member],
  threads: [20, thread],
}

async function repeat([rounds, round]) {
  for (let i = 0; i < rounds; i++) {
    await round()
    if (i % PER_COLLECTION !== 0) continue
    globalThis.gc()
    await turn() // finalizers run between the turns
  }
  for (let i = 0; i < COLLECTIONS; i++) {
    globalThis.gc()
    await turn()
  }
  probe('profile')
}

async function main() {
  if (chosen === 'probe') SUBJECTS.probe = [100, () => probe('growth')]
  else fs.mkdirSync(files, { recursive: true })
  for (const name of chosen ? [chosen] : Object.keys(SUBJECTS)) {
    await repeat(SUBJECTS[name])
    await repeat(SUBJECTS[name])
    console.log(JSON.stringify({ name, rounds: SUBJECTS[name][0] }))
  }
}

main()
