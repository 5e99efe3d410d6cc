'use strict'

// Slots, windows and counters on any database that can read records and swap one of them: runs the steps of
// core/src/lease/grants.rs over a RecordStore, within the time that join() promises.
//
// It must never decide anything: the rules are in core/src/lease/grants*. It must never swap anything for a step whose caller
// has given up.

const { randomBytes } = require('node:crypto')
const native = require('../../native/index.js')
const errors = require('../../base/errors.js')
const { inTime } = require('../../base/in-time.js')
const { sleep, unixNow } = require('../../base/timers.js')

/** How long a step may take, with all its reads and swaps. */
const STEP_MS = 10_000
/** Others may be faster again and again: after the second swap, a step waits for up to 4, 8, 16 … ms, and reads again. */
const [PATIENCE, LONGEST_PAUSE_MS] = [2, 250]
/** No step needs more swaps that were made: such a store does not show what it says it wrote. */
const ENOUGH = 5
/** A wait for a new group that is longer than this needs a word. */
const LONG_WAIT_MS = 10_000

const fresh = () => randomBytes(16).toString('hex')

const grantOf = ({ slot, lo, hi, now }) => ({ slot, lo, hi, storeNow: now })

/** The errors for a step's refusals, by the type of the answer. */
const REFUSALS = {
  quiet: ({ until, now }, { name }) => errors.quietError(name, until, now),
  exhausted: ({ until, now }, { name }) => errors.exhaustedError(name, until, now),
  mismatch: ({ theirs }, { name, config }) => errors.groupMismatchError(name, theirs, config),
  durable: ({ is }, { name }) => errors.counterMismatchError(name, is),
  skew: ({ by, bound }) => errors.clockSkewError(by, bound),
  ended: (_, { name }) => errors.destroyedError(name),
  record: ({ faults: [fault] }, { name }) => errors.recordError(name, fault),
  olderGroup: (_, { name }) => errors.olderGroupError(name),
  olderCounter: ({ text }, { name }) => errors.olderCounterError(name, text),
  gone: (_, { name }) => errors.counterError('gone', name),
  behind: (_, { name }) => errors.counterError('behind', name),
  full: ({ number }, { name }) => errors.counterError('full', name, number),
  nonsense: ({ text }, { name }) => errors.storeError(`The store of '${name}' gave an answer that cannot be: ${text}.`),
}

class DatabaseStore {
  #records
  #grants = new native.Grants()
  #isDurable // a promise, once it was asked whether the store may be vouched for

  /** @param records a RecordStore; one of ours may have `checkDurable`, `older`, `endOlder` and `clockStepMs` */
  constructor(records) {
    this.#records = records
  }

  /** What it runs on. For tests, which look behind the steps. */
  get records() {
    return this.#records
  }

  /** Makes a group that nobody used in the last minute, and waits until it grants slots. Returns whether it was made. */
  async create(group, config, signal) {
    await this.#checkDurable(config.durable)
    const { is, until, now } = await this.#run({ type: 'create', name: group, config }, signal)
    if (!is) return false
    if (until - now > LONG_WAIT_MS) errors.warnOfLongCreate(group, until, now)
    // A clock of whole seconds shows the end of the quiet period later.
    await sleep(until - now + (this.#records.clockStepMs ?? 0))
    return true
  }

  async acquire(group, { config, owner, host, joins }) {
    await this.#checkDurable(config.durable)
    return grantOf(await this.#run({ type: joins ? 'join' : 'acquire', name: group, config, owner, host }))
  }

  async renew(group, { config, slot, owner, hi }) {
    const answer = await this.#run({ type: 'renew', name: group, config, slot, owner, hi })
    return answer.type === 'granted' ? grantOf(answer) : answer.type
  }

  async release(group, { config, slot, owner, last }) {
    await this.#run({ type: 'release', name: group, config, slot, owner, last })
  }

  async destroy(group) {
    await this.#coded(group, () => this.#records.endOlder?.(group))
    await this.#run({ type: 'destroy', name: group })
  }

  /** Adds to a counter. By 0, with an init, it continues at `init` or above, whatever was lost. */
  async advance(name, by, init, durable = false) {
    await this.#checkDurable(durable)
    const isSkip = by === 0n && init !== undefined
    const task = isSkip ? { type: 'skipTo', place: init } : { type: 'advance', by, init }
    const { number } = await this.#run({ ...task, name, durable })
    return number
  }

  async list(group) {
    const { rows, faults } = await this.#run({ type: 'list', name: group })
    if (faults.length > 0) throw errors.recordsError(group, faults, rows)
    return rows
  }

  /** The names of all groups; undefined if the store cannot tell. */
  get groups() {
    if (this.#records.groups === undefined) return undefined
    return async () => {
      const names = await this.#coded('', () => this.#records.groups())
      const living = await Promise.all(names.map((name) => this.#mayLive(name)))
      return names.filter((_, i) => living[i]).sort()
    }
  }

  /** Whether a group is alive. */
  async has(group) {
    return (await this.#run({ type: 'exists', name: group })).is
  }

  /** A group whose record cannot be read is one: whoever looks at it is told what is wrong. */
  #mayLive(group) {
    return this.has(group).catch((error) => {
      if (error.code === 'ERR_FLAKE_RECORD') return true
      throw error
    })
  }

  async close() {
    await this.#records.close?.()
  }

  /** Asks the server, once, whether it may be vouched for. */
  async #checkDurable(durable) {
    if (!durable) return
    this.#isDurable ??= this.#records.checkDurable?.()
    try {
      await this.#isDurable
    } catch (error) {
      this.#isDurable = undefined
      throw error
    }
  }

  /** Runs a step to its answer, or throws the refusal. */
  async #run(task, signal) {
    const { name, ...rest } = task
    const run = new Run(this.#records, name, this.#grants.step(name, rest, fresh()), signal)
    const answer = await this.#coded(name, () => run.answer())
    if (REFUSALS[answer.type] !== undefined) throw REFUSALS[answer.type](answer, task)
    return answer
  }

  async #coded(name, call) {
    try {
      return await call()
    } catch (error) {
      throw errors.storeFailure(name, error)
    }
  }
}

/** One step under way. */
class Run {
  #records
  #name
  #step
  #signal
  #isOver = false
  #swaps = 0
  #failure // why the last swap failed

  constructor(records, name, step, signal) {
    this.#records = records
    this.#name = name
    this.#step = step
    this.#signal = signal
  }

  async answer() {
    try {
      return await inTime(this.#go(), STEP_MS)
    } catch (error) {
      if (error.code !== 'ETIMEDOUT' || error === this.#failure) throw error
      throw errors.unfinishedError(this.#name, STEP_MS, this.#swaps, this.#failure ?? error)
    } finally {
      this.#isOver = true
    }
  }

  async #go() {
    let ask = this.#step.begin()
    while (ask.type !== 'done') ask = await this.#carryOut(ask)
    return ask.answer
  }

  #carryOut(ask) {
    switch (ask.type) {
      case 'read':
        return this.#read(ask)
      case 'swap':
        return this.#swap(ask)
      case 'names':
        return this.#names()
      case 'older':
        return this.#older()
    }
  }

  async #read({ names }) {
    // A clock of whole seconds, such as etcd's, may seem to be behind by all of one.
    const before = unixNow() - (this.#records.clockStepMs ?? 0)
    const { now, identity, values, position } = await this.#records.read(this.#name, names)
    const look = { now, ...identity, values, position: position?.toString(), before, after: unixNow() }
    return this.#step.read(look, fresh())
  }

  /** Whatever goes wrong, the next read shows what became of it. */
  async #swap({ name, from, to, history, process }) {
    // Nobody waits for the step any more, so nobody hears of this.
    if (this.#isOver || this.#signal?.aborted) throw new Error('given up')
    this.#swaps += 1
    let isDone = false
    try {
      isDone = await this.#records.swap(this.#name, name, from ?? null, to, { history, process })
    } catch (error) {
      this.#failure = error
    }
    // Never between a read and its swap: by then another would have swapped the record.
    if (this.#swaps >= (isDone === true ? ENOUGH : PATIENCE)) {
      await sleep(Math.random() * Math.min(2 ** this.#swaps, LONGEST_PAUSE_MS))
    }
    return this.#step.swapped(isDone === true, fresh())
  }

  async #names() {
    return this.#step.named(await this.#records.names(this.#name), fresh())
  }

  async #older() {
    const { group = false, counter } = (await this.#records.older?.(this.#name)) ?? {}
    return this.#step.older(group, counter, fresh())
  }
}

module.exports = { DatabaseStore }
