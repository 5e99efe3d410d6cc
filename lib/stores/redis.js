'use strict'

// Slots, windows and counters on Redis or Valkey, over the user's own client: one Lua script is one atomic step. It
// must never decide anything: the rules are in the scripts under redis/ (core/src/grants.rs is their reference), and
// redis/client.js deals with clients. The scripts are JavaScript modules, so that bundlers include them.

const { createHash, randomUUID } = require('node:crypto')
const {
  clockSkewError,
  counterError,
  destroyedError,
  exhaustedError,
  groupMismatchError,
  quietError,
  storeError,
} = require('../errors')
const { redisClient } = require('./redis/client')
const CLOCK = require('./redis/clock')
const GROUP = require('./redis/group')
const SLOTS = require('./redis/slots')
const { openClient } = require('./redis/url')

/** A script: the parts that it needs, then the step. */
function script(...parts) {
  const source = parts.join('')
  return { source, sha: createHash('sha1').update(source).digest('hex') }
}

const SCRIPTS = {
  open: script(CLOCK, GROUP, require('./redis/open')),
  acquire: script(CLOCK, GROUP, SLOTS, require('./redis/acquire')),
  renew: script(CLOCK, GROUP, SLOTS, require('./redis/renew')),
  release: script(CLOCK, GROUP, SLOTS, require('./redis/release')),
  destroy: script(CLOCK, GROUP, require('./redis/destroy')),
  advance: script(CLOCK, require('./redis/advance')),
  list: script(require('./redis/list')),
  has: script(require('./redis/has')),
}

/** The keys of one group or counter; the braces keep them on one node of a cluster. */
const keysOf = (name, kinds) => kinds.map((kind) => `flakeforge:{${name}}:${kind}`)
const groupKeys = (group) => keysOf(group, ['group', 'slots', 'ends', 'hosts', 'owners'])

/** `destroy` needs no options, because anybody may clean up. For an absent group it assumes the default skew. */
const ANY_CONFIG = ['', 0, 0, 5000]

/** A group's options, from the text that scripts return. */
const configOf = ([fingerprint, ...numbers]) => {
  const [slots, ttlMs, skewMs] = numbers.map(Number)
  return { fingerprint, slots, ttlMs, skewMs }
}

/** What a script's answers mean, by their first word. */
const ANSWERS = {
  done: ([what]) => what === 'made', // only open() has it
  lost: () => 'lost',
  destroyed: () => 'destroyed',
  granted: ([slot, lo, hi, storeNow]) => ({ slot: +slot, lo: +lo, hi: +hi, storeNow: +storeNow }),
  mismatch: (theirs, group, ours) => {
    throw groupMismatchError(group, configOf(theirs), configOf(ours))
  },
  skew: ([skewMs, bound]) => {
    throw clockSkewError(+skewMs, +bound)
  },
  quiet: ([until, storeNow], group) => {
    throw quietError(group, +until, +storeNow)
  },
  exhausted: ([retryAt, storeNow], group) => {
    throw exhaustedError(group, +retryAt, +storeNow)
  },
}

/** A slot record as redis/slots.js writes it: `owner lo hi host`, and `-` for no owner. */
function slotOf(slot, record) {
  const [, owner, lo, hi, host] = /^(\S+) (\d+) (\d+) (.*)$/s.exec(record)
  return { slot: +slot, ...(owner === '-' ? {} : { owner }), host, lo: +lo, hi: +hi }
}

class RedisStore {
  #client
  #configs = new Map()
  #lineages = new Map() // for each counter that gave us a block: see redis/advance.js

  constructor(client) {
    this.#client = client
  }

  async open(group, { fingerprint, slots, ttlMs, skewMs, create }) {
    const config = [fingerprint, slots, ttlMs, skewMs]
    const isNew = await this.#step('open', group, [create ? 'create' : 'join'], config)
    this.#configs.set(group, config) // only now: a config that is refused must not replace another member's
    return isNew
  }

  async acquire(group, { owner, host, clientNow }) {
    const grant = await this.#step('acquire', group, [owner, host, clientNow])
    if (grant === 'destroyed') throw destroyedError(group)
    return grant
  }

  renew(group, { slot, owner, clientNow }) {
    return this.#step('renew', group, [slot, owner, clientNow])
  }

  async release(group, { slot, owner, last }) {
    await this.#step('release', group, [slot, owner, last])
  }

  async destroy(group) {
    await this.#client.run(SCRIPTS.destroy, groupKeys(group), ANY_CONFIG)
  }

  async advance(name, by, init) {
    const values = [by, init ?? '', this.#lineages.get(name) ?? '', randomUUID()]
    const [kind, value, lineage] = await this.#client.run(SCRIPTS.advance, keysOf(name, ['counter']), values)
    if (kind !== 'value') throw counterError(kind, name, value)
    this.#lineages.set(name, lineage)
    return BigInt(value)
  }

  async list(group) {
    const fields = await this.#client.run(SCRIPTS.list, groupKeys(group), [])
    const records = fields.flatMap((field, i) => (i % 2 === 0 ? [slotOf(field, fields[i + 1])] : []))
    return records.sort((a, b) => a.slot - b.slot)
  }

  /** For the command line: whether a group exists. To list groups, one would have to search all keys of the server. */
  async has(group) {
    const [is] = await this.#client.run(SCRIPTS.has, groupKeys(group), [])
    return is === 'there'
  }

  async close() {
    await this.#client.close()
  }

  async #step(step, group, args, config = this.#configs.get(group)) {
    if (config === undefined) throw storeError(`Group '${group}' is not open on this store. Call open() first.`)
    const [kind, ...values] = await this.#client.run(SCRIPTS[step], groupKeys(group), [...config, ...args])
    return ANSWERS[kind](values, group, config)
  }
}

/** A store on the user's own client of ioredis or node-redis: a single server, Sentinel, a cluster or a pool. */
const redisStore = (client) => new RedisStore(redisClient(client))

/** A store with our own client, which `close()` ends. */
const openRedis = (url) => new RedisStore(openClient(url))

module.exports = { redisStore, openRedis }
