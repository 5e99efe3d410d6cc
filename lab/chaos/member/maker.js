'use strict'

// One thread of a member: a generator, the loop that generates IDs with it, and the file to which they are written, in
// order. An ID is written only after it was generated, and the next batch starts only after this one is written.

const { setTimeout: sleep } = require('node:timers/promises')
const FlakeId = require('flakeforge')
const { quorumStore, recordStore } = require('flakeforge/lease')
const { RemoteFlakeId } = require('flakeforge/remote')
const { Batch, CALLS } = require('./calls.js')
const { joinByOwnClient } = require('./own-client.js')
const { RunFile } = require('./run-file.js')
const { DeadlineLease } = require('./deadline-lease.js')
const { tell } = require('./tell.js')

const LONGEST_WAIT_MS = 50 // after an error; its cause may be over sooner than it says
const BURST_MS = 10 // how long the event loop may be blocked
const GRACE_MS = 500 // how much a call that waits for the clock may delay the end of a process

/**
 * The job of a member; comes as JSON.
 * @typedef {object} Task
 * @property {string | string[]} [join] the store of a leased generator, or the URLs of servers; without it, a plain
 *   generator
 * @property {'window' | 'deadline' | 'remote' | 'several' | 'records'} [policy] how a leased generator is leased; `remote`:
 *   servers generate its IDs; `several`: of several stores that are one; `records`: of a store that a module opens
 * @property {object} options the generator's
 * @property {string} call how IDs are requested
 * @property {string} file where they go
 * @property {number} [batch] how many IDs are written at once
 * @property {number} perSecond how many, on average; each burst is as fast as possible
 * @property {number} [burstMs] the maximum duration of a burst; 0: a single batch
 * @property {string[]} refusals codes of the errors after which it tries again
 */

/**
 * Where the IDs come from: a plain generator, one that is leased by slot and window, servers, or, in a negative
 * control, a generator that is leased by a deadline. Each source has `flake`, which may throw an expected error, and
 * `close()`.
 */
const SOURCES = {
  own: async ({ options }) => ({ flake: new FlakeId(options), close: async () => {} }),
  window: async ({ join, options }) => {
    const flake = await FlakeId.join(join, options)
    return { flake, close: () => flake.close() }
  },
  'own client': joinByOwnClient,
  several: async ({ join: { addresses, labels }, options }) => {
    const store = quorumStore(addresses, { labels })
    const flake = await FlakeId.join(store, options)
    return { flake, close: () => flake.close().finally(() => store.close()) }
  },
  records: async ({ join: { module, place }, options }) => {
    const { storeAt } = await import(module)
    const store = recordStore(await storeAt(place))
    const flake = await FlakeId.join(store, options)
    return { flake, close: () => flake.close().finally(() => store.close()) }
  },
  deadline: ({ join, options }) => DeadlineLease.open(join, options),
  remote: async ({ join, options }) => {
    const flake = await RemoteFlakeId.connect(join, options)
    return { flake, close: () => flake.close() }
  },
}

/** Opens the source that a task names. */
const openSource = (task) => SOURCES[task.policy ?? (task.join === undefined ? 'own' : 'window')](task)

class Maker {
  #task
  #source
  #isStopped = false
  #loop

  constructor(task) {
    this.#task = task
  }

  /** Opens the generator and generates IDs until it is stopped. Throws an error unless it is expected. */
  async run() {
    this.#source = await this.#open()
    if (this.#source === undefined) return
    this.#loop = this.#makeAll()
    await this.#loop
  }

  /** Tries until it works, or until the result is no longer wanted. */
  async #open() {
    while (!this.#isStopped) {
      try {
        return await openSource(this.#task)
      } catch (error) {
        await sleep(this.#waitAfter(error))
      }
    }
  }

  /** The orderly end: releases the slot, if there is one, and waits until the last batch is written. */
  async stop() {
    this.#isStopped = true
    await this.#close()
    await Promise.race([this.#loop, sleep(GRACE_MS)])
  }

  /** A store that is down does not confirm the release; the slot is free when its window ends. */
  async #close() {
    try {
      await this.#source?.close()
    } catch (error) {
      if (!this.#task.refusals.includes(error.code)) throw error
    }
  }

  async #makeAll() {
    const { file, perSecond, burstMs = BURST_MS } = this.#task
    const output = new RunFile(file)
    const batch = new Batch(this.#task.batch)
    const start = performance.now()
    let turned = start
    while (!this.#isStopped) {
      const refusal = await this.#fill(batch)
      output.add(batch.drain())
      if (refusal === undefined && performance.now() - turned < burstMs) continue
      const ahead = (output.made / perSecond) * 1000 - (performance.now() - start)
      await sleep(Math.max(0, ahead, this.#waitAfter(refusal)))
      turned = performance.now()
    }
  }

  /** Fills the batch as far as the generator allows. Returns the error that ended it early. */
  async #fill(batch) {
    try {
      await CALLS[this.#task.call](this.#source.flake, batch)
    } catch (error) {
      return error
    }
  }

  /** In how many ms to try again. */
  #waitAfter(refusal) {
    if (refusal === undefined || this.#isStopped) return 0 // stopped: close() has ended the generator, whatever its error
    if (!this.#task.refusals.includes(refusal.code)) throw refusal
    tell(refusal)
    return Math.min(refusal.retryAfterMs ?? LONGEST_WAIT_MS, LONGEST_WAIT_MS)
  }
}

module.exports = { Maker }
