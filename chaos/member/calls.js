'use strict'

// The ways to ask a generator for IDs, and the run of IDs that they fill. A run keeps the IDs that were made before a
// refusal: every ID that was made must reach the file, or a second one like it would not be noticed.

/** IDs of a run. They are few, because the check never sees the current run of a process that is killed. */
const RUN = 256

class Run {
  #bytes = Buffer.alloc(RUN * 8)
  #length = 0

  get isFull() {
    return this.#length === this.#bytes.length
  }

  put(id) {
    this.#length += id.copy(this.#bytes, this.#length)
  }

  putBigInt(id) {
    this.#length = this.#bytes.writeBigUInt64BE(id, this.#length)
  }

  /** The bytes so far. Afterwards the run is empty, and the bytes stay valid until the next ID. */
  drain() {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#length = 0
    return bytes
  }
}

/** Waits for all calls, even after one that was refused: the IDs that they make belong to this run. */
async function allOf(calls) {
  const refused = (await Promise.allSettled(calls)).find(({ status }) => status === 'rejected')
  if (refused !== undefined) throw refused.reason
}

/** Each fills an empty run, or throws what the generator threw. */
const WAYS = {
  next(flake, run) {
    while (!run.isFull) run.put(flake.next())
  },
  nextBigInt(flake, run) {
    while (!run.isFull) run.putBigInt(flake.nextBigInt())
  },
  take(flake, run) {
    run.put(flake.take(RUN))
  },
  takeBigInts(flake, run) {
    for (const id of flake.takeBigInts(RUN)) run.putBigInt(id)
  },
  /** Makes several calls that stand in the queue together; their callbacks come in the order of the calls. */
  nextCallback(flake, run) {
    const put = (resolve, reject) => flake.next((error, id) => (error ? reject(error) : resolve(run.put(id))))
    return allOf(Array.from({ length: RUN }, () => new Promise(put)))
  },
  nextAsync(flake, run) {
    const put = async () => run.put(await flake.nextAsync())
    return allOf(Array.from({ length: RUN }, put))
  },
  async takeAsync(flake, run) {
    run.put(await flake.takeAsync(RUN))
  },
}

module.exports = { Run, WAYS }
