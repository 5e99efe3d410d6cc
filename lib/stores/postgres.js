'use strict'

// Slots, windows and counters on PostgreSQL, over the user's own client: one statement is one atomic step. It must
// never decide anything: the rules are in the statements under postgres/ (core/src/grants.rs is their reference), and
// postgres/client.js deals with clients. The statements are JavaScript modules, so that bundlers include them.

const { randomUUID } = require('node:crypto')
const {
  clockSkewError,
  counterError,
  destroyedError,
  exhaustedError,
  groupMismatchError,
  quietError,
  storeError,
} = require('../errors')
const { postgresClient } = require('./postgres/client')
const { openClient } = require('./postgres/url')

/** A step's statement, without comments and with numbers for `:name`. Values are sent as text, with a cast. */
function statement(sql) {
  const names = []
  const text = sql.replace(/ *--.*$/gm, '').replace(/(?<!:):([a-z]+)/gi, (_, name) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}::text`
  })
  return { text, names }
}

const STATEMENTS = {
  open: statement(require('./postgres/open')),
  acquire: statement(require('./postgres/acquire')),
  renew: statement(require('./postgres/renew')),
  release: statement(require('./postgres/release')),
  destroy: statement(require('./postgres/destroy')),
  advance: statement(require('./postgres/advance')),
  list: statement(require('./postgres/list')),
  groups: statement(require('./postgres/groups')),
}

/** What a statement's answer means. */
const ANSWERS = {
  done: ({ made }) => made, // only open() has it
  lost: () => 'lost',
  destroyed: () => 'destroyed',
  granted: ({ slot, lo, hi, storeNow }) => ({ slot, lo, hi, storeNow }),
  mismatch: ({ theirs }, group, ours) => {
    throw groupMismatchError(group, theirs, ours)
  },
  skew: ({ skew }, _, { skewMs }) => {
    throw clockSkewError(skew, skewMs)
  },
  quiet: ({ quietUntil, storeNow }, group) => {
    throw quietError(group, quietUntil, storeNow)
  },
  exhausted: ({ retryAt, storeNow }, group) => {
    throw exhaustedError(group, retryAt, storeNow)
  },
}

class PostgresStore {
  #client
  #configs = new Map()
  #lineages = new Map() // for each counter that gave us a block: see postgres/advance.js

  constructor(client) {
    this.#client = client
  }

  async open(group, { fingerprint, slots, ttlMs, skewMs, create }) {
    const config = { fingerprint, slots, ttlMs, skewMs }
    const isNew = await this.#step('open', group, { create }, config)
    this.#configs.set(group, config) // only now: a config that is refused must not replace another member's
    return isNew
  }

  async acquire(group, { owner, host, clientNow }) {
    const grant = await this.#step('acquire', group, { owner, host, clientNow })
    if (grant === 'destroyed') throw destroyedError(group)
    return grant
  }

  renew(group, { slot, owner, clientNow }) {
    return this.#step('renew', group, { slot, owner, clientNow })
  }

  async release(group, { slot, owner, last }) {
    await this.#step('release', group, { slot, owner, last })
  }

  async destroy(group) {
    await this.#client.run(STATEMENTS.destroy, { group })
  }

  async advance(name, by, init) {
    const known = this.#lineages.get(name) ?? ''
    const values = { name, by, init: init ?? '', known, fresh: randomUUID() }
    const { outcome, value, lineage } = await this.#client.run(STATEMENTS.advance, values)
    if (outcome !== 'advanced') throw counterError(outcome, name, value)
    this.#lineages.set(name, lineage)
    return BigInt(value)
  }

  async list(group) {
    const slots = await this.#client.run(STATEMENTS.list, { group })
    // A released slot has no `owner` at all, instead of null.
    return slots.map(({ owner, ...slot }) => (owner === null ? slot : { ...slot, owner }))
  }

  /** For the command line: the names of all groups. */
  groups() {
    return this.#client.run(STATEMENTS.groups, {})
  }

  async close() {
    await this.#client.close()
  }

  async #step(step, group, values, config = this.#configs.get(group)) {
    if (config === undefined) throw storeError(`Group '${group}' is not open on this store. Call open() first.`)
    const answer = await this.#client.run(STATEMENTS[step], { group, ...config, ...values })
    return ANSWERS[answer.outcome](answer, group, config)
  }
}

/** A store on the user's own client: a Pool or Client of pg, or the sql function of postgres.js. */
const postgresStore = (client) => new PostgresStore(postgresClient(client))

/** A store with our own client, which `close()` ends. */
const openPostgres = (url) => new PostgresStore(openClient(url))

module.exports = { postgresStore, openPostgres }
