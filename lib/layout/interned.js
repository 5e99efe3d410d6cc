'use strict'
// @ts-check

// Objects that are made once and shared by all code that asks for the same, as long as any of it holds them: layouts
// and generators. Each has a native object with a finalizer, and these pile up in a loop that never lets the event loop
// turn.
//
// It must never keep anything alive by itself, and never hold more than MOST keys: beyond that it forgets the oldest,
// and the next request for that one gets a new object.

const MOST = 10_000 // more than the node numbers of most layouts

/** @template {object} T */
class Interned {
  /** @type {Map<string | number | undefined, WeakRef<T>>} */
  #known = new Map()

  /**
   * The object for this key; a new one if nothing holds the last one.
   * @param {string | number | undefined} key
   * @param {() => T} make
   */
  get(key, make) {
    const known = this.#known.get(key)?.deref()
    if (known !== undefined) return known
    const made = make()
    this.#known.delete(key) // or it would keep its old place in the order
    this.#known.set(key, new WeakRef(made))
    if (this.#known.size > MOST) this.#known.delete(this.#known.keys().next().value)
    return made
  }
}

exports.Interned = Interned
