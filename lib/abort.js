'use strict'

// AbortSignals that users give to calls which wait: reads them out of options, and ends a call when its signal aborts.
//
// It must never leave a listener on a signal behind: a program may have one signal for as long as it lives. Nor may there be
// more than one on a signal, however many calls wait: Node warns of a leak from the eleventh on, and each one added has to
// be compared with all the others.

const { checkKeys, isAbsent } = require('./check.js')
const { optionTypeError } = require('./errors.js')

/** The AbortSignal in the option `signal`; undefined where there is none. It may be another library's or window's. */
function readSignal(signal) {
  if (isAbsent(signal)) return undefined
  const isSignal = typeof signal.aborted === 'boolean' && typeof signal.addEventListener === 'function'
  if (!isSignal) throw optionTypeError('signal', signal, 'an AbortSignal')
  return signal
}

/** The signal of options that have nothing else. */
const signalOf = (options) => readSignal(checkKeys('options', options, ['signal']).signal)

/** What a call is rejected with. Signals of old polyfills have no reason. */
const reasonOf = ({ reason }) =>
  reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason

function throwIfAborted(signal) {
  if (signal?.aborted) throw reasonOf(signal)
}

/** The one listener of a signal, and what it has to end. */
class Listener {
  #signal
  #ends = new Set()

  constructor(signal) {
    this.#signal = signal
  }

  add(end) {
    if (this.#ends.size === 0) this.#signal.addEventListener('abort', this.#onAbort)
    this.#ends.add(end)
  }

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

/** Calls `end()` when the signal aborts, which must not have happened yet. Returns a function that takes this back. */
function whenAborted(signal, end) {
  let listener = listeners.get(signal)
  if (listener === undefined) {
    listener = new Listener(signal)
    listeners.set(signal, listener)
  }
  listener.add(end)
  return () => listener.delete(end)
}

/**
 * A promise of what a call gives; where the signal aborts before, it is rejected with the signal's reason.
 * @param {AbortSignal | undefined} signal
 * @param {(callback: (error: unknown, result: unknown) => void) => { cancel(): boolean }} call calls back later, never at
 * once; `cancel()` says whether it was in time: a call that is too late to be cancelled gives what it gives
 */
function abortable(signal, call) {
  return new Promise((resolve, reject) => {
    throwIfAborted(signal)
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

/** What a promise gives, where the signal does not abort before. `cancel` as above. */
function unlessAborted(signal, promise, cancel) {
  return abortable(signal, (callback) => {
    promise.then((result) => callback(null, result), callback)
    return { cancel }
  })
}

/** As `abortable`, with the signal in `options`; where they are wrong, the promise is rejected. */
const abortableBy = async (options, call) => abortable(signalOf(options), call)

module.exports = { abortableBy, readSignal, signalOf, throwIfAborted, unlessAborted, whenAborted }
