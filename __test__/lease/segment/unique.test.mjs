// Random steps of several members of one counter, on records in this process that fail, lose answers and lose writes,
// and on files: no number is given twice, whatever is called in which order.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { lease, numberOf, split, turn } from '../../support/index.mjs'
import { NAME, SegmentId } from '../../support/segment.mjs'

const { DatabaseStore } = createRequire(import.meta.url)('../../../target/rooms/lib/stores/database.js')

/** Records that are read and swapped at once, later or never, or written without a confirming answer. */
class UnsteadyRecords {
  mood = 'well'
  #values = new Map()
  #before = new Map() // a loss restores this: for a client that does not know it, a missing counter starts at 0
  #restarts = 0

  get #identity() {
    return { history: 'here', process: String(this.#restarts) }
  }

  /** The server restarts, with all writes. */
  restart() {
    this.#restarts += 1
    this.#before = new Map(this.#values)
  }

  /** The server restarts, without the writes since its last start. */
  lose() {
    this.#restarts += 1
    this.#values = new Map(this.#before)
  }

  async read(_, names) {
    await this.#reach()
    return { now: Date.now(), identity: this.#identity, values: names.map((name) => this.#values.get(name) ?? null) }
  }

  async swap(_, name, from, to, { process }) {
    await this.#reach()
    if (process !== this.#identity.process || (this.#values.get(name) ?? null) !== from) return false
    this.#values.set(name, to)
    if (from === null) this.#before.set(name, to)
    if (this.mood === 'mute') throw new Error('connection reset')
    return this.mood !== 'unsure'
  }

  async #reach() {
    if (this.mood === 'late') await turn()
    if (this.mood === 'away') throw new Error('connection refused')
  }
}

const MOODS = ['well', 'late', 'away', 'mute', 'unsure']
const REFUSALS = ['ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_STORE', 'ERR_FLAKE_DETACHED']
const BLOCKS = [1, 2, 3, 7, 10, 64]

/** Members of one counter, and their numbers. */
class Run {
  given = []
  waits = [] // calls without an answer yet
  members = []

  /** `newStore` gives each member its own store; `records` is behind it, if a test can disturb that. */
  constructor(newStore, records) {
    this.newStore = newStore
    this.records = records
  }

  /** Calls, and keeps the result; an unexpected error is a failure. */
  async #keep(call) {
    try {
      const ids = await call()
      if (ids instanceof BigUint64Array || Buffer.isBuffer(ids)) this.given.push(...split(ids).map(numberOf))
      else if (typeof ids === 'bigint') this.given.push(ids)
    } catch (error) {
      if (!REFUSALS.includes(error.code)) throw error
    }
  }

  /** `m` names the member, `n` is the argument of the step. */
  step = {
    open: (m, n) =>
      this.#keep(async () => {
        const member = await SegmentId.open(this.newStore(), { name: NAME, block: BLOCKS[n % BLOCKS.length] })
        this.members[m] ??= member
        if (this.members[m] !== member) await member.close()
      }),
    close: async (m) => {
      const member = this.members[m]
      delete this.members[m]
      await member?.close()
    },
    next: (m) => this.#keep(() => this.members[m]?.next()),
    nextBigInt: async (m, n) => {
      for (let i = 0; i < n; i++) await this.#keep(() => this.members[m]?.nextBigInt())
    },
    take: (m, n) => this.#keep(() => this.members[m]?.take(n)),
    takeBigInts: (m, n) => this.#keep(() => this.members[m]?.takeBigInts(n)),
    nextAsync: (m) => this.waits.push(this.#keep(() => this.members[m]?.nextAsync())),
    takeAsync: (m, n) => this.waits.push(this.#keep(() => this.members[m]?.takeAsync(n))),
    init: (m, n) => this.waits.push(this.#keep(() => this.members[m]?.init(n).then(() => {}))),
    skipTo: (m, n) => this.waits.push(this.#keep(() => this.members[m]?.skipTo(n * 10))),
    turn,
    mood: (_, n) => {
      this.records.mood = MOODS[n % MOODS.length]
    },
    restart: () => this.records.restart(),
    lose: () => this.records.lose(),
  }

  async end() {
    if (this.records !== undefined) this.records.mood = 'well'
    await Promise.all(Object.keys(this.members).map((m) => this.step.close(m)))
    await Promise.all(this.waits)
  }
}

const stepsOf = (kinds) =>
  fc.array(fc.tuple(fc.constantFrom(...kinds), fc.nat({ max: 3 }), fc.nat({ max: 40 })), {
    minLength: 10,
    maxLength: 60,
  })

/** Whether a run of these steps gives no number twice. */
async function isUnique(run, steps) {
  for (const m of [0, 1, 2, 3]) await run.step.open(m, m)
  for (const [kind, m, n] of steps) await run.step[kind](m, n)
  await run.end()
  return new Set(run.given).size === run.given.length
}

const kindsBut = (...others) => Object.keys(new Run().step).filter((kind) => !others.includes(kind))

const RECORDS = {
  'a database that fails and restarts at times': kindsBut('lose'),
  // Choosing where to continue after a loss takes more knowledge than these steps have.
  'a database that loses what was written': kindsBut('init', 'skipTo'),
}

/** This many runs at once: they wait most of their time, for a pause after each call that failed. */
const AT_ONCE = 50

for (const [what, kinds] of Object.entries(RECORDS)) {
  test(what, async (t) => {
    const property = fc.asyncProperty(stepsOf(kinds), (steps) => {
      const records = new UnsteadyRecords()
      return isUnique(new Run(() => new DatabaseStore(records), records), steps)
    })
    const some = () => fc.assert(property, { numRuns: 100 / AT_ONCE })
    await t.notThrowsAsync(Promise.all(Array.from({ length: AT_ONCE }, some)))
  })
}

test('files', async (t) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-segment-'))
  t.teardown(() => fs.rmSync(root, { recursive: true }))
  let runs = 0
  const property = fc.asyncProperty(stepsOf(kindsBut('mood', 'restart', 'lose')), (steps) => {
    const store = lease.fileStore(path.join(root, String(runs++)))
    return isUnique(new Run(() => store), steps)
  })
  await t.notThrowsAsync(fc.assert(property, { numRuns: 30 }))
})
