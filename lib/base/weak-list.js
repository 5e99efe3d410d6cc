'use strict'
// @ts-check

// A list of objects for people who look at them from time to time, such as metrics.
//
// It must never keep an object alive, nor remember those that are gone for longer than until as many again were added.

/** @template {object} T */
class WeakList {
  /** @type {WeakRef<T>[]} */
  #refs = []
  #pruneAt = 16

  /** @param {T} object */
  add(object) {
    if (this.#refs.length >= this.#pruneAt) this.#prune()
    this.#refs.push(new WeakRef(object))
  }

  /** Those that still exist. */
  get living() {
    return this.#refs.flatMap((ref) => ref.deref() ?? [])
  }

  #prune() {
    this.#refs = this.#refs.filter((ref) => ref.deref() !== undefined)
    this.#pruneAt = this.#refs.length * 2 + 16
  }
}

exports.WeakList = WeakList
