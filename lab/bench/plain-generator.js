'use strict'

// The best possible generator in plain JavaScript with flake-idgen's rule and a new Buffer for each ID. Native code has
// to be faster than this. The same for decoding, encoding and parsing IDs. For the benchmark only.

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

/** The same result as Layout.decode for the flake layout. */
function decode(id) {
  const tick = id >> 22n
  const timestamp = Number(tick)
  return {
    timestamp,
    date: new Date(timestamp),
    tick,
    counter: Number(id & 0xfffn),
    id: Number((id >> 12n) & 0x3ffn),
    datacenter: Number((id >> 17n) & 0x1fn),
    worker: Number((id >> 12n) & 0x1fn),
  }
}

/** The same result as Layout.encode, without its checks. */
function encode({ timestamp, datacenter, worker, counter }) {
  const id = (BigInt(timestamp) << 22n) | (BigInt(datacenter) << 17n) | (BigInt(worker) << 12n) | BigInt(counter)
  const buffer = Buffer.alloc(8)
  buffer.writeBigUInt64BE(id)
  return buffer
}

/** The same result as parse() for decimal text, without its checks. */
function parse(text) {
  const bytes = new FastBuffer(8)
  bytes.writeBigUInt64BE(BigInt(text))
  return bytes
}

module.exports = { PureFlake, decode, encode, parse }
