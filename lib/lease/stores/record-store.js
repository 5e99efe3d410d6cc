'use strict'

// A user's own database as a store: `recordStore({ read, swap, names, groups?, close? })`. Every answer of the user's
// functions is checked before it is used. It must never decide anything about slots, and never call a function that the
// user did not give.

const { checkAnswer, checkNames, checkSwapped } = require('./record-answers.js')
const { inTime } = require('../../base/in-time.js')

const errors = () => require('../../base/errors.js')

/** How long one call may take. After that its outcome is unknown, as after an error. */
const CALL_MS = 10_000

const NEEDED = ['read', 'swap', 'names']
const OPTIONAL = ['groups', 'close']
const WANTED = 'an object with the functions read, swap and names'

/** Refuses anything that is not a RecordStore, and says what is missing. */
function checkRecordStore(given) {
  if (typeof given !== 'object' || given === null) throw errors().optionTypeError('store', given, WANTED)
  const missing = NEEDED.find((name) => typeof given[name] !== 'function')
  if (missing !== undefined) {
    const hint = typeof given.then === 'function' ? ' It is a promise: wait for it with await first.' : ''
    throw errors().optionError(TypeError, 'store', given, `store must be ${WANTED}, but has no ${missing}().${hint}`)
  }
  const wrong = OPTIONAL.find((name) => given[name] !== undefined && typeof given[name] !== 'function')
  if (wrong !== undefined) throw errors().optionTypeError(`store.${wrong}`, given[wrong], 'a function, or left out')
}

/** What the user's functions do, with their answers checked. */
class CheckedRecords {
  #given

  constructor(given) {
    checkRecordStore(given)
    this.#given = given
    if (given.groups === undefined) this.groups = undefined // so that callers see that it cannot list them
  }

  async read(group, names) {
    return checkAnswer(await this.#ask('read', group, [...names]), names)
  }

  async swap(group, name, from, to, identity) {
    return checkSwapped(await this.#ask('swap', group, name, from, to, { ...identity }))
  }

  async names(group) {
    return checkNames('names', await this.#ask('names', group))
  }

  async groups() {
    return checkNames('groups', await this.#ask('groups'))
  }

  async close() {
    if (this.#given.close !== undefined) await this.#ask('close')
  }

  /** We know nothing about this database. Whoever sets `durable` vouches for it. */
  async checkDurable() {}

  /** Version 0.1 had no stores of users' own, so it left nothing. */
  async older() {
    return { group: false, counter: undefined }
  }

  async endOlder() {}

  /** The answer of one of the user's functions. What it throws is the cause of our error. */
  async #ask(call, ...args) {
    try {
      return await inTime(this.#given[call](...args), CALL_MS)
    } catch (error) {
      throw errors().storeError(`${call}() of the store failed. The cause says why.`, error)
    }
  }
}

const checkedRecords = (given) => new CheckedRecords(given)

/**
 * The store of a user's own database.
 * @param {object} given a RecordStore; index.d.ts and docs/lease/your-own-database.md say what it must do
 */
function recordStore(given) {
  const records = checkedRecords(given)
  const { DatabaseStore } = require('./database.js')
  return new DatabaseStore(records)
}

module.exports = { checkRecordStore, checkedRecords, recordStore }
