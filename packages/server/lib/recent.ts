// A value that is costly to make and that any client may ask for. It is made at most once in a while, so that requests for it
// cannot hold up others: all who ask meanwhile share it.

export class Recent<T> {
  #freshMs
  #make
  #value: Promise<T> | undefined
  #freshUntil = Number.NEGATIVE_INFINITY // by performance.now(), because Date.now() may go back

  /** @param freshMs for how long a value, or the failure to make one, is used after it was made */
  constructor(freshMs: number, make: () => Promise<T>) {
    this.#freshMs = freshMs
    this.#make = make
  }

  get() {
    if (this.#value === undefined || performance.now() >= this.#freshUntil) {
      this.#freshUntil = Number.POSITIVE_INFINITY
      const isMade = () => {
        this.#freshUntil = performance.now() + this.#freshMs
      }
      this.#value = this.#make()
      this.#value.then(isMade, isMade)
    }
    return this.#value
  }
}
