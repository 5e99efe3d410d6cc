// A weak list of objects, for occasional readers such as metrics. It keeps no object alive, and drops collected ones at the
// latest when its length has doubled.

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
