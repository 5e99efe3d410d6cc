'use strict'

// The calls that request IDs from a generator, and the batch of IDs that they fill. A batch keeps the IDs generated
// before an error: every generated ID must reach the file, or a duplicate of it would not be noticed.

/** IDs of a batch. They are few, because the check never sees the current batch of a process that is killed. */
const SIZE = 256
const ONE_BY_ONE = 16

class Batch {
  #bytes
  #length = 0

  constructor(size = SIZE) {
    this.#bytes = Buffer.alloc(size * 8)
  }

  /** How many IDs fit into it now. */
  get room() {
    return (this.#bytes.length - this.#length) / 8
  }

  get isFull() {
    return this.room === 0
  }

  put(id) {
    this.#bytes.set(id, this.#length) // from servers, they need not be Buffers
    this.#length += id.length
  }

  putBigInt(id) {
    this.#length = this.#bytes.writeBigUInt64BE(id, this.#length)
  }

  /** The bytes so far. Afterwards the batch is empty, and the bytes stay valid until the next ID. */
  drain() {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#length = 0
    return bytes
  }
}

/** Waits for all calls, even after one that failed: the IDs that they return belong to this batch. */
async function allOf(calls) {
  const refused = (await Promise.allSettled(calls)).find(({ status }) => status === 'rejected')
  if (refused !== undefined) throw refused.reason
}

/** Each fills an empty batch, or throws the generator's error. */
const CALLS = {
  next(flake, batch) {
    while (!batch.isFull) batch.put(flake.next())
  },
  nextBigInt(flake, batch) {
    while (!batch.isFull) batch.putBigInt(flake.nextBigInt())
  },
  take(flake, batch) {
    batch.put(flake.take(batch.room))
  },
  /** Most by a batch, the last ones one by one. */
  takeAndNext(flake, batch) {
    if (batch.room > ONE_BY_ONE) batch.put(flake.take(batch.room - ONE_BY_ONE))
    CALLS.next(flake, batch)
  },
  takeBigInts(flake, batch) {
    for (const id of flake.takeBigInts(SIZE)) batch.putBigInt(id)
  },
  /** Makes several calls that are in the queue together; their callbacks come in the order of the calls. */
  nextCallback(flake, batch) {
    const put = (resolve, reject) => flake.next((error, id) => (error ? reject(error) : resolve(batch.put(id))))
    return allOf(Array.from({ length: SIZE }, () => new Promise(put)))
  },
  nextAsync(flake, batch) {
    const put = async () => batch.put(await flake.nextAsync())
    return allOf(Array.from({ length: SIZE }, put))
  },
  async takeAsync(flake, batch) {
    batch.put(await flake.takeAsync(SIZE))
  },
}

module.exports = { Batch, CALLS }
