// Random steps of several members of one counter, on a store in this process that fails and forgets to answer, and on files:
// no number is given twice, whatever is called in which order.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { FlakeId, numberOf, split, turn } from './support.mjs'
import { Counters, NAME, SegmentId } from './support-segment.mjs'

/** A store that answers, at once or later, fails, or does a step and fails to answer. */
class Unsteady extends Counters {
  mood = 'well'

  async advance(...step) {
    if (this.mood === 'late') await turn()
    if (this.mood === 'away') throw new Error('connection refused')
    const answer = await super.advance(...step)
    if (this.mood === 'mute') throw new Error('connection reset')
    return answer
  }
}

const REFUSALS = ['ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_STORE', 'ERR_FLAKE_DETACHED']
const BLOCKS = [1, 2, 3, 7, 10, 64]

/** Members of one counter, and what they gave. */
class Run {
  given = []
  waits = [] // calls that are still to be answered
  members = []

  constructor(store) {
    this.store = store
  }

  /** Calls, and keeps what it gives; an error that no call may have is a failure. */
  async #keep(call) {
    try {
      const ids = await call()
      if (ids instanceof BigUint64Array || Buffer.isBuffer(ids)) this.given.push(...split(ids).map(numberOf))
      else if (typeof ids === 'bigint') this.given.push(ids)
    } catch (error) {
      if (!REFUSALS.includes(error.code)) throw error
    }
  }

  /** `m` says which member, `n` is what the step needs. */
  step = {
    open: (m, n) =>
      this.#keep(async () => {
        const member = await SegmentId.open(this.store, { name: NAME, block: BLOCKS[n % BLOCKS.length] })
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
      this.store.mood = ['well', 'late', 'away', 'mute'][n % 4]
    },
  }

  async end() {
    this.store.mood = 'well'
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
async function isUnique(store, steps) {
  const run = new Run(store)
  for (const m of [0, 1, 2, 3]) await run.step.open(m, m)
  for (const [kind, m, n] of steps) await run.step[kind](m, n)
  await run.end()
  return new Set(run.given).size === run.given.length
}

const { step: kinds } = new Run()
const ALL = Object.keys(kinds)

test('a store that fails at times', async (t) => {
  const property = fc.asyncProperty(stepsOf(ALL), (steps) => isUnique(new Unsteady(), steps))
  await t.notThrowsAsync(fc.assert(property, { numRuns: 100 }))
})

test('files', async (t) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-segment-'))
  t.teardown(() => fs.rmSync(root, { recursive: true }))
  let runs = 0
  const property = fc.asyncProperty(stepsOf(ALL.filter((kind) => kind !== 'mood')), (steps) => {
    runs++
    return isUnique(FlakeId.fileStore(path.join(root, String(runs))), steps)
  })
  await t.notThrowsAsync(fc.assert(property, { numRuns: 30 }))
})
