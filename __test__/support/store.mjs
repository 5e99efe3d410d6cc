// A store in this process's memory that a test can make fail, wait and forget, for tests of a lease's driver. It
// follows the rules of core/src/lease/grants.rs, and is no more lenient: it keeps every granted window, so that a test
// can check whether an ID lies in one.

import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const errors = require('../../target/rooms/lib/base/errors.js')

let lineages = 0

/** Short windows, so that a test sees several. */
export const LEASE = { ttlMs: 2000, skewMs: 100 }

export class MemoryStore {
  #groups = new Map()
  /** every window, in the order in which they were granted: { step, slot, owner, lo, hi } */
  windows = []
  /** every requested step: [name, group, request] */
  calls = []
  /** called before each step with its name; the step throws its error, and waits for its promise */
  before = async () => {}

  /** `offsetMs`: how far this store's clock is ahead of the test's. */
  constructor({ offsetMs = 0 } = {}) {
    this.offsetMs = offsetMs
  }

  get now() {
    return Date.now() + this.offsetMs
  }

  /** From now on every step fails with this error, until `work()` is called. */
  fail(error = new Error('connection refused')) {
    this.before = async () => {
      throw error
    }
  }

  work() {
    this.before = async () => {}
  }

  /** How often a step was requested. */
  count(step) {
    return this.calls.filter(([name]) => name === step).length
  }

  /** The group's record: a test may write to it what a fault would. */
  group(name = 'default') {
    return this.#groups.get(name)
  }

  async #step(name, group, request) {
    this.calls.push([name, group, request])
    try {
      await this.before(name, group, request)
    } catch (error) {
      throw errors.storeFailure(group, error)
    }
    return this.#groups.get(group)
  }

  async create(group, config) {
    await this.#step('create', group)
    return this.#open(group, config)
  }

  /** Whether the group was created. */
  #open(group, { fingerprint, slots, ttlMs, skewMs, durable }) {
    const known = this.#groups.get(group)
    const config = { fingerprint, slots, ttlMs, skewMs, durable }
    if (known === undefined || known.destroyed) {
      const floor = known?.floor ?? -1
      this.#groups.set(group, {
        config,
        lineage: `${++lineages}`.padStart(16, '0'),
        quietUntil: 0,
        floor,
        slots: new Map(),
        destroyed: false,
      })
      return true
    }
    checkSame(group, known, config)
    return false
  }

  async acquire(group, request) {
    await this.#step('acquire', group, request)
    if (request.joins) this.#open(group, request.config)
    const known = this.#groups.get(group)
    const { now } = this
    const { owner, host } = request
    if (known.destroyed) throw errors.destroyedError(group)
    checkSame(group, known, request.config)
    this.#checkSkew(known)
    if (now < known.quietUntil) throw errors.quietError(group, known.quietUntil, now)
    const same = [...known.slots].find(([, record]) => record.owner === owner && record.hi >= now)
    const { lineage } = known
    if (same !== undefined) return { slot: same[0], lo: same[1].lo, hi: same[1].hi, storeNow: now, lineage }
    const free = this.#freeSlots(known, now)
    if (free.length === 0) throw errors.exhaustedError(group, this.#frees(known), now)
    const byEnd = free.sort((a, b) => a.hi - b.hi || a.slot - b.slot)
    const chosen = byEnd.find((one) => one.host === host) ?? free.find(({ isNew }) => isNew) ?? byEnd[0]
    const lo = Math.max(chosen.hi + 1, now)
    const hi = now + known.config.ttlMs
    known.slots.set(chosen.slot, { owner, host, lo, hi })
    return this.#granted('acquire', { slot: chosen.slot, owner, lo, hi }, now, known)
  }

  async renew(group, request) {
    const known = await this.#step('renew', group, request)
    const { now } = this
    const { slot, owner, hi } = request
    if (known.destroyed) return 'destroyed'
    this.#checkSkew(known)
    const record = known.slots.get(slot)
    const isHeld = record?.owner === owner
    const isQuiet = now < known.quietUntil
    if (isQuiet && !(isHeld && hi > now + known.config.skewMs)) throw errors.quietError(group, known.quietUntil, now)
    if (!isHeld) return 'lost'
    if (record.hi < now) record.lo = Math.max(record.hi + 1, now)
    record.hi = Math.max(record.hi, now + known.config.ttlMs)
    return this.#granted('renew', { slot, owner, lo: record.lo, hi: record.hi }, now, known)
  }

  async release(group, request) {
    const known = await this.#step('release', group, request)
    const { slot, owner, last } = request
    const record = known.slots.get(slot)
    if (record?.owner !== owner) return
    record.hi = Math.min(record.hi, Math.max(last, record.lo - 1))
    record.owner = undefined
  }

  async destroy(group) {
    const known = await this.#step('destroy', group)
    known.floor = Math.max(known.floor, this.now, ...[...known.slots.values()].map(({ hi }) => hi))
    known.destroyed = true
    known.slots.clear()
  }

  async advance() {
    throw new Error('no counters here')
  }

  async list(group) {
    const known = await this.#step('list', group)
    return [...known.slots].map(([slot, record]) => ({ slot, ...record }))
  }

  /**
   * The member has the same clock except for the offset. Reading it twice would count a pause between the two as skew.
   */
  #checkSkew({ config }) {
    const skewMs = -this.offsetMs
    if (Math.abs(skewMs) > config.skewMs) throw errors.clockSkewError(skewMs, config.skewMs)
  }

  #freeSlots(known, now) {
    const all = Array.from({ length: known.config.slots }, (_, slot) => {
      const record = known.slots.get(slot)
      return record === undefined ? { slot, hi: known.floor, isNew: true } : { slot, ...record, isNew: false }
    })
    return all.filter(({ hi }) => hi < now)
  }

  #frees({ config, slots, floor }) {
    const ends = Array.from({ length: config.slots }, (_, slot) => slots.get(slot)?.hi ?? floor)
    return Math.min(...ends) + 1
  }

  #granted(step, window, storeNow, { lineage }) {
    this.windows.push({ step, ...window })
    return { ...window, storeNow, lineage }
  }
}

function checkSame(group, known, config) {
  const isSame = Object.entries(known.config).every(([name, value]) => value === config[name])
  if (!isSame) throw errors.groupMismatchError(group, known.config, config)
}

/** Grants a slot to another owner, for longer than a test lasts, like a store that lost acknowledged writes. */
export function giveAway(store, slot, group) {
  Object.assign(store.group(group).slots.get(slot), { owner: 'f'.repeat(32), hi: Date.now() + 600_000 })
}
