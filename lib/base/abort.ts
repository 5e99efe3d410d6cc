// AbortSignals that users pass to calls that wait: reads them out of options, and ends a call when its signal aborts.
//
// A signal may live as long as the program, so every listener is removed with its last call. A signal has one listener,
// however many calls wait: from the eleventh on Node warns of a leak, and it compares each new one with all the others. Uses
// no module of Node: browsers load this file too.

import * as errors from './errors/values.ts'
import { checkKeys, isAbsent } from './values.ts'

/** Cancels a wait. */
export interface SignalOptions {
  /**
   * Cancels the call: the promise rejects with `signal.reason` (an `AbortError` by default), and no number is taken. If the
   * signal has already aborted, the promise rejects at once.
   */
  signal?: AbortSignal | null | undefined
}

/** Ends an iteration. */
export interface IterationOptions {
  /** Ends the iteration without an error. No number is taken. */
  signal?: AbortSignal | null | undefined
}

/** A pending call. `cancel()` returns false if it is too late: the call already has its result. */
export type Waiter = { cancel(): boolean }

/** Calls back later, never synchronously. */
export type Call = (callback: (error?: unknown, result?: any) => void) => Waiter

/** The AbortSignal in the option `signal`, or undefined. It may come from another library or window. */
export function readSignal(given: unknown) {
  if (isAbsent(given)) return undefined
  const signal = given as AbortSignal
  const isSignal = typeof signal.aborted === 'boolean' && typeof signal.addEventListener === 'function'
  if (!isSignal) throw errors.optionTypeError('signal', signal, 'an AbortSignal')
  return signal
}

/** The signal, from options that have no other key. */
export const signalOf = (options: unknown) => readSignal(checkKeys('options', options, ['signal']).signal)

/** The reason to reject a call with. Signals of old polyfills have no reason. */
export const reasonOf = ({ reason }: AbortSignal) =>
  reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason

export function throwIfAborted(signal: AbortSignal | undefined) {
  if (signal?.aborted) throw reasonOf(signal)
}

/** The only listener of a signal, and the calls that it ends. */
class Listener {
  #signal
  #ends: Set<() => void> = new Set()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  add(end: () => void) {
    if (this.#ends.size === 0) this.#signal.addEventListener('abort', this.#onAbort)
    this.#ends.add(end)
  }

  delete(end: () => void) {
    if (this.#ends.delete(end) && this.#ends.size === 0) this.#signal.removeEventListener('abort', this.#onAbort)
  }

  #onAbort = () => {
    for (const end of this.#ends) {
      this.delete(end)
      end()
    }
  }
}

const listeners: WeakMap<AbortSignal, Listener> = new WeakMap()

/** Calls `end()` when the signal aborts. The signal must not have aborted yet. Returns a function that undoes this. */
export function whenAborted(signal: AbortSignal, end: () => void) {
  const listener = listeners.get(signal) ?? new Listener(signal)
  listeners.set(signal, listener)
  listener.add(end)
  return () => listener.delete(end)
}

/**
 * A promise of a call's result. If the signal aborts first, it rejects with the signal's reason.
 * @returns a promise of whatever the call returns
 */
export function abortable(signal: AbortSignal | undefined, call: Call): Promise<any> {
  return new Promise((resolve, reject) => {
    throwIfAborted(signal)
    let ignore: (() => void) | undefined
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

/** A promise's result, unless the signal aborts first. */
export function unlessAborted<Result>(
  signal: AbortSignal | undefined,
  promise: Promise<Result>,
  cancel: () => boolean,
): Promise<Result> {
  return abortable(signal, (callback) => {
    promise.then((result) => callback(null, result), callback)
    return { cancel }
  })
}

/** Like `abortable`, with the signal in `options`. Invalid options reject the promise. */
export const abortableBy = async (options: unknown, call: Call) => abortable(signalOf(options), call)
