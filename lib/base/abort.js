'use strict'
// @ts-check

// AbortSignals that users pass to calls that wait: reads them out of options, and ends a call when its signal aborts.
//
// It must never leave a listener behind on a signal: a program may keep one signal as long as it runs. It must never
// add more than one listener to a signal, however many calls wait: Node warns of a leak from the eleventh on, and
// compares each new one with all the others. It must never use a module of Node: browsers load it too.

const { checkKeys, errors, isAbsent } = require('./values.js')

/**
 * A call that is under way. `cancel()` returns false if it is too late: then the call has its result.
 * @typedef {{ cancel(): boolean }} Waiter
 *
 * Calls back later, never at once.
 * @typedef {(callback: (error?: unknown, result?: any) => void) => Waiter} Call
 */

/**
 * The AbortSignal in the option `signal`; undefined if there is none. It may come from another library or window.
 * @param {unknown} given
 */
function readSignal(given) {
  if (isAbsent(given)) return undefined
  const signal = /** @type {AbortSignal} */ (given)
  const isSignal = typeof signal.aborted === 'boolean' && typeof signal.addEventListener === 'function'
  if (!isSignal) throw errors().optionTypeError('signal', signal, 'an AbortSignal')
  return signal
}

/**
 * The signal, from options that have nothing else.
 * @param {unknown} options
 */
const signalOf = (options) => readSignal(checkKeys('options', options, ['signal']).signal)

/**
 * The reason to reject a call with. Signals of old polyfills have none.
 * @param {AbortSignal} signal
 */
const reasonOf = ({ reason }) =>
  reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason

/** @param {AbortSignal | undefined} signal */
function throwIfAborted(signal) {
  if (signal?.aborted) throw reasonOf(signal)
}

/** The one listener of a signal, and the calls that it has to end. */
class Listener {
  #signal
  /** @type {Set<() => void>} */
  #ends = new Set()

  /** @param {AbortSignal} signal */
  constructor(signal) {
    this.#signal = signal
  }

  /** @param {() => void} end */
  add(end) {
    if (this.#ends.size === 0) this.#signal.addEventListener('abort', this.#onAbort)
    this.#ends.add(end)
  }

  /** @param {() => void} end */
  delete(end) {
    if (this.#ends.delete(end) && this.#ends.size === 0) this.#signal.removeEventListener('abort', this.#onAbort)
  }

  #onAbort = () => {
    for (const end of this.#ends) {
      this.delete(end)
      end()
    }
  }
}

/** @type {WeakMap<AbortSignal, Listener>} */
const listeners = new WeakMap()

/**
 * Calls `end()` when the signal aborts. The signal must not have aborted yet. Returns a function that undoes this.
 * @param {AbortSignal} signal
 * @param {() => void} end
 */
function whenAborted(signal, end) {
  const listener = listeners.get(signal) ?? new Listener(signal)
  listeners.set(signal, listener)
  listener.add(end)
  return () => listener.delete(end)
}

/**
 * A promise of a call's result. If the signal aborts first, it rejects with the signal's reason.
 * @param {AbortSignal | undefined} signal
 * @param {Call} call
 * @returns {Promise<any>} of whatever the call gives
 */
function abortable(signal, call) {
  return new Promise((resolve, reject) => {
    throwIfAborted(signal)
    /** @type {(() => void) | undefined} */
    let ignore
    const waiter = call((error, result) => {
      ignore?.()
      if (error) reject(error)
      else resolve(result)
    })
    if (signal === undefined) return
    ignore = whenAborted(signal, () => {
      if (waiter.cancel()) reject(reasonOf(signal))
    })
  })
}

/**
 * A promise's result, unless the signal aborts first.
 * @template Result
 * @param {AbortSignal | undefined} signal
 * @param {Promise<Result>} promise
 * @param {() => boolean} cancel
 * @returns {Promise<Result>}
 */
function unlessAborted(signal, promise, cancel) {
  return abortable(signal, (callback) => {
    promise.then((result) => callback(null, result), callback)
    return { cancel }
  })
}

/**
 * Like `abortable`, with the signal in `options`. If the options are wrong, the promise rejects.
 * @param {unknown} options
 * @param {Call} call
 */
const abortableBy = async (options, call) => abortable(signalOf(options), call)

module.exports = {
  abortable,
  abortableBy,
  readSignal,
  signalOf,
  throwIfAborted,
  unlessAborted,
  whenAborted,
}
