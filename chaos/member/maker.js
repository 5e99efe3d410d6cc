'use strict'

// One thread of a member: a generator, the loop that makes IDs with it, and the file that they are written to, 8 big-endian
// bytes each, in the order in which they were made. It must never write an ID before it was made, nor start the next run
// before this one is written.

const fs = require('node:fs')
const { setTimeout: sleep } = require('node:timers/promises')
const { openSource } = require('./sources.js')
const { Run, WAYS } = require('./ways.js')

const LONGEST_WAIT_MS = 50 // after a refusal; its cause may be over sooner than it says
const BURST_MS = 10 // how long the event loop may be blocked
const GRACE_MS = 500 // what a call that waits for the clock may delay the end of a process

/**
 * What a member is to do; comes as JSON.
 * @typedef {object} Task
 * @property {string} [join] the store of a leased generator; without it, a generator of its own
 * @property {string} [policy] how a leased generator is leased, see sources.js
 * @property {object} options the generator's
 * @property {string} way how IDs are asked for
 * @property {string} file where they go
 * @property {number} perSecond how many, on average; each burst goes as fast as it can
 * @property {number} [burstMs] how long a burst is at most; 0: a single run
 * @property {string[]} refusals codes of the errors that are answered by trying again
 */

class Maker {
  #task
  #source
  #isStopped = false
  #loop

  constructor(task) {
    this.#task = task
  }

  /** Opens the generator and makes IDs until it is stopped. Throws an error unless it is an expected refusal. */
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

  /** The orderly end: gives the slot back, if there is one, and waits until the last run is written. */
  async stop() {
    this.#isStopped = true
    await this.#close()
    await Promise.race([this.#loop, sleep(GRACE_MS)])
  }

  /** A store that is away does not confirm that the slot was given back; the slot is free when its window ends. */
  async #close() {
    try {
      await this.#source?.close()
    } catch (error) {
      if (!this.#task.refusals.includes(error.code)) throw error
    }
  }

  async #makeAll() {
    const { file, perSecond, burstMs = BURST_MS } = this.#task
    const output = fs.openSync(file, 'a')
    const run = new Run()
    const start = performance.now()
    let turned = start
    for (let made = 0; !this.#isStopped; ) {
      const refusal = await this.#fill(run)
      const bytes = run.drain()
      writeAll(output, bytes)
      made += bytes.length / 8
      if (refusal === undefined && performance.now() - turned < burstMs) continue
      const ahead = (made / perSecond) * 1000 - (performance.now() - start)
      await sleep(Math.max(0, ahead, this.#waitAfter(refusal)))
      turned = performance.now()
    }
  }

  /** Fills the run as far as the generator allows. Returns the error that ended it early. */
  async #fill(run) {
    try {
      await WAYS[this.#task.way](this.#source.flake, run)
    } catch (error) {
      return error
    }
  }

  /** In how many ms to try again. */
  #waitAfter(refusal) {
    if (refusal === undefined || this.#isStopped) return 0 // stopped: close() has ended the generator, whatever it says
    if (!this.#task.refusals.includes(refusal.code)) throw refusal
    return Math.min(refusal.retryAfterMs ?? LONGEST_WAIT_MS, LONGEST_WAIT_MS)
  }
}

/** A single write may take less than it was given. */
function writeAll(output, bytes) {
  for (let written = 0; written < bytes.length; ) written += fs.writeSync(output, bytes, written)
}

module.exports = { Maker }
