'use strict'

// The ways to ask a generator for IDs, and the run of IDs that they fill. A run keeps what was made before a refusal:
// an ID that was made must reach the file, or a second one like it would go unseen.

/** IDs of a run: few, since those of the run in hand are lost to the check when the process is killed. */
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

  /** The bytes so far; the run is empty afterwards, and its bytes are good until the next ID. */
  drain() {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#length = 0
    return bytes
  }
}

/** Waits for all calls, also behind one that was refused: what they make belongs to this run. */
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
  /** Calls that stand in the queue together; their callbacks come in the order of the calls. */
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
