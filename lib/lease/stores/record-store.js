'use strict'
// @ts-check

// A user's own database as a store: `recordStore({ read, swap, names, groups?, close? })`. Every answer of the user's
// functions is checked before it is used. It must never decide anything about slots, and never call a function that the
// user did not give.

const { errors } = require('../../base/check.js')
const { checkAnswer, checkNames, checkSwapped } = require('./record-answers.js')
const { inTime } = require('../../base/in-time.js')
const { CALL_MS } = require('./limits.js')

/**
 * @import { RecordStore } from '../../../types/stores.d.ts'
 * @import { Records } from './step.js'
 */

const NEEDED = ['read', 'swap', 'names']
const OPTIONAL = ['groups', 'close']
const WANTED = 'an object with the functions read, swap and names'

/**
 * Refuses anything that is not a RecordStore, and says what is missing.
 * @param {unknown} given
 */
function checkRecordStore(given) {
  if (typeof given !== 'object' || given === null) throw errors().optionTypeError('store', given, WANTED)
  const store = /** @type {Record<string, unknown>} */ (given)
  const missing = NEEDED.find((name) => typeof store[name] !== 'function')
  if (missing !== undefined) {
    const hint = typeof store.then === 'function' ? ' It is a promise: wait for it with await first.' : ''
    throw errors().optionError(TypeError, 'store', given, `store must be ${WANTED}, but has no ${missing}().${hint}`)
  }
  const wrong = OPTIONAL.find((name) => store[name] !== undefined && typeof store[name] !== 'function')
  if (wrong !== undefined) throw errors().optionTypeError(`store.${wrong}`, store[wrong], 'a function, or left out')
}

/**
 * What the user's functions do, with their answers checked.
 * @implements {Records}
 */
class CheckedRecords {
  #given
  /**
   * Missing if the user's is, so that callers see that it cannot list groups.
   * @type {(() => Promise<string[]>) | undefined}
   */
  groups

  /** @param {RecordStore} given */
  constructor(given) {
    checkRecordStore(given)
    this.#given = given
    if (given.groups !== undefined) this.groups = async () => checkNames('groups', await this.#ask('groups'))
  }

  /** @type {Records['read']} */
  async read(group, names) {
    return checkAnswer(await this.#ask('read', group, [...names]), names)
  }

  /** @type {Records['swap']} */
  async swap(group, name, from, to, identity) {
    return checkSwapped(await this.#ask('swap', group, name, from, to, { ...identity }))
  }

  /** @type {Records['names']} */
  async names(group) {
    return checkNames('names', await this.#ask('names', group))
  }

  async close() {
    if (this.#given.close !== undefined) await this.#ask('close')
  }

  /** We know nothing about this database. Whoever sets `durable` vouches for it. */
  async checkDurable() {}

  /**
   * The answer of one of the user's functions. What it throws is the cause of our error. After a call that took too long
   * the outcome is unknown, as after an error.
   * @param {'read' | 'swap' | 'names' | 'groups' | 'close'} call
   * @param {unknown[]} args
   * @returns {Promise<unknown>}
   */
  async #ask(call, ...args) {
    const store = /** @type {Record<string, (...args: unknown[]) => unknown>} */ (/** @type {unknown} */ (this.#given))
    try {
      return await inTime(store[call](...args), CALL_MS)
    } catch (error) {
      throw errors().storeError(`${call}() of the store failed. The cause says why.`, error)
    }
  }
}

/** @param {RecordStore} given */
const checkedRecords = (given) => new CheckedRecords(given)

/**
 * The store of a user's own database.
 * @param {RecordStore} given docs/lease/your-own-database.md says what it must do
 */
function recordStore(given) {
  const records = checkedRecords(given)
  const { DatabaseStore } = require('./database.js')
  return new DatabaseStore(records)
}

module.exports = { checkedRecords, recordStore }
