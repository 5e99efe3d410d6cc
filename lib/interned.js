'use strict'

// Things that are made once and shared by all who ask for the same, as long as one of them holds it: layouts and
// generators. Each has a native object with a finalizer, and these pile up in a loop that never lets the event loop turn.
//
// It must never keep anything alive by itself, nor hold more than MOST keys: past that the oldest is forgotten, and who
// asks for it again gets one of his own.

const MOST = 10_000 // more than the node numbers of most layouts

/** @template T */
class Interned {
  #known = new Map()

  /** What this key stands for, made where nobody holds it any more. @param {() => T} make */
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

module.exports = { Interned }
