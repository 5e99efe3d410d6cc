'use strict'

// Slots, windows and counters on etcd 3.4 or later, over `fetch` and etcd's JSON gateway: one step is one read, at most
// one call for its etcd lease, and one deciding transaction.
// It must never decide anything: the rules are in etcd/steps.js and etcd/group.js (core/src/grants.rs is their
// reference), the keys in etcd/keys.js, and etcd/gateway.js talks to etcd.

const { storeError } = require('../errors')
const { monotonicNow, sleep } = require('../timers.js')
const { advance } = require('./etcd/counter')
const { Gateway } = require('./etcd/gateway')
const { isOvertaken, noMemory, remembered } = require('./etcd/memory')
const {
  all,
  counterKey,
  first,
  groupKeys,
  groupOf,
  isLivingGroup,
  last,
  leaseOf,
  nextGroup,
  one,
  parse,
} = require('./etcd/keys')
const { parseUrl, readOptions } = require('./etcd/options')
const steps = require('./etcd/steps')
const { lookOf, transactionOf } = require('./etcd/transaction')

/** How often a step is tried when others are faster, with a random wait that doubles up to 500 ms. */
const ATTEMPTS = 64
const LONGEST_WAIT_MS = 500

/** How long an etcd lease counts as fresh after it was made or kept alive: it lasts at least 2 s. */
const HELD_MS = 1000

/** Short waits, such as for the CPU, do not matter to a clock of whole seconds. */
const wholeTenths = (ms) => Math.floor(ms / 100) * 100

class EtcdStore {
  #gateway
  #configs = new Map()
  #memories = new Map()

  constructor(gateway) {
    this.#gateway = gateway
  }

  async open(group, config) {
    const keys = groupKeys(group)
    const isNew = await this.#step(keys, {}, steps.open, { group, config })
    this.#configs.set(group, { ...config, create: false })
    return isNew
  }

  async acquire(group, { owner, host, clientNow }) {
    const keys = groupKeys(group)
    const config = this.#configOf(group)
    const reads = {
      used: one(keys.used),
      ofOwner: first(keys.owners(owner)),
      ofHost: first(keys.hosts(host)),
      byEnd: first(keys.ends),
      alive: first(keys.alive),
    }
    const lease = this.#lease(group, owner, config)
    return this.#step(keys, reads, steps.acquire, { group, config, owner, host, clientNow }, lease)
  }

  async renew(group, { slot, owner, clientNow }) {
    const keys = groupKeys(group)
    const config = this.#configOf(group)
    const lease = { ...this.#lease(group, owner, config), isThere: true }
    return this.#step(keys, { held: one(keys.slot(slot)) }, steps.renew, { group, config, owner, clientNow }, lease)
  }

  async release(group, { slot, owner, last }) {
    const keys = groupKeys(group)
    const config = this.#configOf(group)
    await this.#step(keys, { held: one(keys.slot(slot)) }, steps.release, { group, config, owner, last })
    // its key went away with the slot; if this fails, the etcd lease runs out by itself
    await this.#gateway.dropLease(leaseOf(group, owner)).catch(() => {})
  }

  async destroy(group) {
    const keys = groupKeys(group)
    await this.#step(keys, { highest: last(keys.ends) }, steps.destroy, { config: this.#configs.get(group) })
  }

  async advance(name, by, init) {
    return this.#step({ record: counterKey(name) }, {}, advance, { name, by, init })
  }

  async list(group) {
    const { lists } = await this.#gateway.txn({ success: [all(groupKeys(group).all)] })
    return lists[0].map(parse).map(({ seen, ...record }) => record)
  }

  /**
   * For the command line: the names of all groups, one call for each, because reading all keys could mean reading
   * thousands of slots.
   */
  async groups() {
    const names = []
    let kv
    do {
      const { lists } = await this.#gateway.txn({ success: [nextGroup(kv?.key)] })
      kv = lists[0][0]
      if (isLivingGroup(kv)) names.push(groupOf(kv.key))
    } while (kv !== undefined)
    return names
  }

  #configOf(group) {
    const config = this.#configs.get(group)
    if (config === undefined) throw storeError(`Group '${group}' is not open on this store. Call open() first.`)
    return config
  }

  /** An etcd lease ends soon after the window: it has whole seconds, and at least two. */
  #lease(group, owner, { ttlMs }) {
    return {
      id: leaseOf(group, owner),
      seconds: Math.max(2, Math.ceil(ttlMs / 1000)),
      isThere: false,
      heldAt: Number.NEGATIVE_INFINITY,
    }
  }

  /**
   * Keeps the lease alive before an attempt, because it may run out while others are faster. But not before each one:
   * those calls would be a third of the load.
   */
  async #hold(lease) {
    const { id, seconds, isThere, heldAt } = lease
    const now = monotonicNow()
    if (now - heldAt < HELD_MS) return
    await (isThere ? this.#gateway.keepLease(id, seconds) : this.#gateway.makeLease(id, seconds))
    Object.assign(lease, { isThere: true, heldAt: now })
  }

  /**
   * One step: reads, decides, and writes if nothing has changed in between. A lost reply does no harm: the next attempt
   * finds what was done already.
   */
  async #step(keys, reads, decide, about, lease) {
    if (!this.#memories.has(keys.record)) this.#memories.set(keys.record, noMemory(this.#gateway.losses))
    const startedAt = monotonicNow()
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const plan = await this.#attempt(keys, reads, decide, { about, lease, startedAt })
      if (plan?.error) throw plan.error
      if (plan) return plan.answer
      await sleep(Math.random() * Math.min(2 ** attempt, LONGEST_WAIT_MS))
    }
    throw storeError(
      `${keys.record} on etcd changed during each of ${ATTEMPTS} attempts. Too many clients write it at once.`,
    )
  }

  /** The plan that was carried out; undefined if another step was faster. */
  async #attempt(keys, reads, decide, { about, lease, startedAt }) {
    const before = this.#memories.get(keys.record)
    const look = await this.#look({ record: one(keys.record), ...reads })
    look.waitedMs = wholeTenths(look.sentAt - startedAt)
    const memory = this.#memories.get(keys.record)
    if (isOvertaken(look, before, memory)) return
    const plan = decide(look, { ...about, memory })
    if (plan.isKept) await this.#hold(lease)
    const transaction = transactionOf(keys, look, plan, lease?.id)
    if (transaction.success.length > 0 && !(await this.#commit(transaction, lease))) return
    if (plan.record) this.#memories.set(keys.record, remembered(this.#memories.get(keys.record), look, plan.record))
    return plan
  }

  async #commit(transaction, lease) {
    const { isDone, isLeaseGone } = await this.#gateway.commit(transaction)
    if (isLeaseGone) lease.heldAt = Number.NEGATIVE_INFINITY
    return isDone
  }

  async #look(reads) {
    const reply = await this.#gateway.txn({ success: Object.values(reads) })
    const lists = Object.fromEntries(Object.keys(reads).map((name, i) => [name, reply.lists[i]]))
    return lookOf({ ...reply, lists })
  }
}

/**
 * A store on etcd. `endpoints`: one URL or several of the members' client ports, `https://` for TLS; if one fails, the
 * next one is asked. `username`, `password`: if authentication is on, a user whose role may read and write the prefix
 * `flakeforge/`.
 *
 * For your own certificate authority set `NODE_EXTRA_CA_CERTS=ca.pem`, or pass a `fetch` that knows it (likewise for a
 * proxy or a client certificate). That `fetch` must obey `signal`, or a request may never end. etcd keeps every old
 * revision by default: run it with `--auto-compaction-retention=1h` or similar, like any etcd with many writes.
 */
const etcdStore = (options) => new EtcdStore(new Gateway(readOptions(options)))

/** A store for `etcd://[user:password@]host:2379,host:2379[?tls=true]`; `etcds://` means TLS too. */
const openEtcd = (url) => etcdStore(parseUrl(url))

module.exports = { etcdStore, openEtcd }
