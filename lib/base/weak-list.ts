// A list of objects for people who look at them from time to time, such as metrics.
//
// It must never keep an object alive, nor remember those that are gone for longer than until as many again were added.

export class WeakList<T extends object> {
  #refs: WeakRef<T>[] = []
  #pruneAt = 16

  add(object: T) {
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
