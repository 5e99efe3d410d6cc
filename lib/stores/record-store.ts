// A user's own database as a store: `recordStore({ read, swap, names, groups?, close? })`. Every answer of the user's
// functions is checked before it is used.

import { refuseMore } from '../base/check.ts'
import * as errors from '../base/errors.ts'
import { inTime } from '../base/in-time.ts'
import { DatabaseStore } from './database.ts'
import { checkAnswer, checkNames, checkSwapped } from './record-answers.ts'
import type { RecordStore, Records, StoreIdentity } from './records.ts'
import type { Store } from './store.ts'
import { BUDGET } from './time-budget.ts'

const NEEDED = ['read', 'swap', 'names']
const OPTIONAL = ['groups', 'close']
const WANTED = 'an object with the functions read, swap and names'

/** Refuses anything that is not a RecordStore, and names what is missing. */
function checkRecordStore(given: unknown) {
  if (typeof given !== 'object' || given === null) throw errors.optionTypeError('store', given, WANTED)
  const store = given as Record<string, unknown>
  const missing = NEEDED.find((name) => typeof store[name] !== 'function')
  if (missing !== undefined) {
    const hint = typeof store.then === 'function' ? ' It is a promise: await it first.' : ''
    throw errors.optionError(TypeError, 'store', given, `store must be ${WANTED}, but has no ${missing}().${hint}`)
  }
  const wrong = OPTIONAL.find((name) => store[name] !== undefined && typeof store[name] !== 'function')
  if (wrong !== undefined) throw errors.optionTypeError(`store.${wrong}`, store[wrong], 'a function, or left out')
}

/** The user's functions, with their answers checked. */
class CheckedRecords implements Records {
  #given
  /** Undefined if the user's is, so that callers see that it cannot list groups. */
  groups: (() => Promise<string[]>) | undefined

  constructor(given: RecordStore) {
    checkRecordStore(given)
    this.#given = given
    if (given.groups !== undefined) this.groups = async () => checkNames('groups', await this.#ask('groups'))
  }

  async read(group: string, names: readonly string[], signal?: AbortSignal) {
    return checkAnswer(await this.#ask('read', [group, [...names]], signal), names)
  }

  async swap(
    group: string,
    name: string,
    from: string | null,
    to: string,
    identity: StoreIdentity,
    signal?: AbortSignal,
  ) {
    return checkSwapped(await this.#ask('swap', [group, name, from, to, { ...identity }], signal))
  }

  async names(group: string, signal?: AbortSignal) {
    return checkNames('names', await this.#ask('names', [group], signal))
  }

  async close() {
    if (this.#given.close !== undefined) await this.#ask('close')
  }

  /** This database is unknown to us. Users of `durable` vouch for it. */
  async checkDurable() {}

  /**
   * The answer of one of the user's functions. An error of the function is the cause of ours. After a call that took too long
   * the outcome is unknown, as after an error.
   */
  async #ask(
    call: 'read' | 'swap' | 'names' | 'groups' | 'close',
    args: unknown[] = [],
    signal?: AbortSignal,
  ): Promise<unknown> {
    const store = this.#given as unknown as Record<string, (...args: unknown[]) => unknown>
    try {
      const answer = Promise.resolve(store[call](...args))
      return await inTime(answer, BUDGET.CALL_MS, signal)
    } catch (error) {
      throw errors.ownStoreError(`${call}() of the store failed. See the cause.`, error)
    }
  }
}

export const checkedRecords = (given: RecordStore) => new CheckedRecords(given)

/**
 * Keeps slots and counters in your own database. Every answer of your functions is checked: an invalid answer causes
 * `ERR_FLAKE_STORE`, and so does one that takes longer than 9 s, or in a renewal longer than a third of `ttlMs`.
 * @returns the store. To test your database, call the functions in its `records`: these are yours, with the checks.
 * @throws {TypeError} `ERR_FLAKE_OPTION`: `read`, `swap` or `names` is missing.
 * @example
 * const flake = await FlakeId.join(recordStore(myStore), { group: 'orders' })
 */
export function recordStore(store: RecordStore, ...more: never[]): Store & { readonly records: RecordStore } {
  refuseMore('recordStore', more, 'only your database')
  return new DatabaseStore(checkedRecords(store))
}
