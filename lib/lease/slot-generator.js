'use strict'
// @ts-check

// What a lease does to its generator: each slot gets a new generator of the addon. All of this happens within a step of
// the lease, so none of it may call the lease. It must never use anything of an earlier slot again.

const hot = require('../native/hot.js')
const { unlessProblem } = require('../base/check.js')
const { attach, detach, wake } = require('../generator/flake-id.js')
const { look } = require('../generator/clock-steps.js')
const { lookAhead } = require('../generator/options.js')
const { OpenedGenerator, knobsOf, noGenerator } = require('../generator/opened-generator.js')
const { problemError } = require('../base/errors.js')
const { leases } = require('./census.js')
const { LeasedFlakeId, tell } = require('./leased-flake-id.js')

/**
 * @import { LeaseDetail, LeaseEvent } from '../../types/join.d.ts'
 * @import { LeaseOrServers } from './else-from/lease-or-servers.js'
 * @import { Settings } from '../generator/options.js'
 * @import { JoinOptions } from './join-options.js'
 * @import { Lease } from './lease.js'
 * @import { Grant } from './stores/database.js'
 */

/**
 * The addon's generator for a grant. Throws if something else in this process has its node number.
 * @param {JoinOptions} options
 * @param {Grant} grant
 */
function openGrant(options, { slot, lo, hi, cursor }) {
  const own = { ...options, ...options.nodeOf(slot) }
  const [handle, knobs] = [hot.nativeLayout(options.facts), knobsOf(own)]
  const opened =
    cursor === undefined
      ? hot.generators.openWindow(handle, knobs, lo, hi)
      : hot.generators.openSlot(handle, knobs, cursor)
  return new OpenedGenerator(own, unlessProblem(opened, `node ${own.node}`))
}

class SlotGenerator {
  #options
  /** @type {OpenedGenerator | undefined} */
  #opened // what makes the IDs of the present slot, or made those of the last one
  /** @type {LeasedFlakeId | undefined} */
  #leased // what users have of it

  /** @param {JoinOptions} options */
  constructor(options) {
    this.#options = options
  }

  /**
   * Makes what users get. Where IDs come from servers at first, there may be no slot yet.
   * @param {Lease | LeaseOrServers} lease
   * @param {() => Promise<void>} onClose
   */
  forUsers(lease, onClose) {
    const { options, native } = this.#opened ?? this.#withoutSlot()
    this.#leased = new LeasedFlakeId(new OpenedGenerator(options, native, lease), onClose)
    leases.add(/** @type {Lease} */ (lease)) // either kind has what metrics ask
    return this.#leased
  }

  /**
   * The ms in which the first tick at or after `lo` begins.
   * @param {number} lo
   */
  firstMs(lo) {
    return hot.nativeLayout(this.#options.facts).firstMs(lo)
  }

  /**
   * Makes IDs of this slot and window from now on, or returns an error that says what else in this process has the
   * slot's node number.
   * @param {Grant} grant
   * @returns {Error | undefined}
   */
  open(grant) {
    try {
      this.#opened = openGrant(this.#options, grant)
    } catch (error) {
      return /** @type {Error} */ (error)
    }
    lookAhead(this.#options.facts)
    if (this.#leased !== undefined) attach(this.#leased, this.#opened)
  }

  /**
   * The window now ends at `hi`, and a new window begins at `lo`.
   * @param {{ lo: number, hi: number }} window
   */
  raise({ lo, hi }) {
    const { native, options } = this.#present
    native.raise(lo, hi)
    lookAhead(options.facts)
    look(native, options)
  }

  /** Makes no more IDs; returns the Unix ms of the last one, or −1 if it made none. */
  seal() {
    if (this.#leased !== undefined) detach(this.#leased)
    return this.#present.native.seal()
  }

  /** What is wrong with the slot's file, if it has one. */
  fault() {
    const problem = this.#opened?.native.fault()
    return problem ? problemError(problem) : undefined
  }

  /**
   * Tells the listeners, in a turn of its own.
   * @param {LeaseEvent} event
   * @param {LeaseDetail} detail
   */
  tell(event, detail) {
    if (this.#leased !== undefined) tell(this.#leased, event, detail)
  }

  /** Tries again for the calls that wait. */
  wake() {
    if (this.#leased !== undefined) wake(this.#leased)
  }

  /** Only the node fields that are fixed are known. */
  #withoutSlot() {
    const settings = { ...this.#options, nodes: { ...this.#options.fixed }, node: undefined }
    return new OpenedGenerator(/** @type {Settings} */ (/** @type {unknown} */ (settings)), noGenerator())
  }

  /** Once a slot was opened. */
  get #present() {
    return /** @type {OpenedGenerator} */ (this.#opened)
  }
}

exports.SlotGenerator = SlotGenerator
