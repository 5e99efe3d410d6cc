'use strict'

// The best generator that plain JavaScript can do with flake-idgen's rule and a Buffer of its own for each ID:
// what native code has to beat. For the benchmark only.

const FastBuffer = Buffer[Symbol.species]

class PureFlake {
  #node
  #last = 0
  #seq = 0

  constructor({ id = 0 } = {}) {
    this.#node = id
  }

  next() {
    const time = Date.now()
    if (time > this.#last) {
      this.#last = time
      this.#seq = 0
    } else if (time < this.#last) {
      throw new Error('clock moved backwards')
    } else if (++this.#seq > 4095) {
      this.#seq = 4095
      throw new Error('counter overflow')
    }
    const high = Math.floor(time / 1024) // the upper 32 of the 42 bits
    const low = ((time & 1023) << 22) | (this.#node << 12) | this.#seq
    const id = new FastBuffer(8)
    id[0] = high >>> 24
    id[1] = high >>> 16
    id[2] = high >>> 8
    id[3] = high
    id[4] = low >>> 24
    id[5] = low >>> 16
    id[6] = low >>> 8
    id[7] = low
    return id
  }
}

module.exports = { PureFlake }
