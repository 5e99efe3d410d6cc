'use strict'
// @ts-check

// A generator whose node number is leased, as users see it: a FlakeId that changes its node number when it gets another
// slot, and emits events about it. It must never touch the slot itself: the lease does.

const { errors } = require('../base/check.js')
const { EventEmitter } = require('node:events')
const { signalOf } = require('../base/abort.js')
const { FlakeId, end, shownOf, wake } = require('../generator/flake-id.js')
const { INSPECT, textOf } = require('../base/inspect.js')
const { OpenedGenerator } = require('../generator/opened-generator.js')

/**
 * @import { LeaseDetail, LeaseEvent } from '../../types/join.d.ts'
 * @import { SignalOptions } from '../../types/options.d.ts'
 * @import { LeaseOrServers } from './else-from/lease-or-servers.js'
 * @import { Lease } from './lease.js'
 */

/** What is told of a lease. */
const EVENTS = ['attached', 'renewed', 'renewal-failed', 'lost', 'detached', 'destroyed']
/** It is never emitted, but events.once() and events.on() listen to it. */
const ERROR = 'error'

/** Methods of EventEmitter that take an event's name first. */
const NAMED = [
  ...['on', 'addListener', 'prependListener', 'once', 'prependOnceListener', 'off', 'removeListener'],
  ...['listeners', 'rawListeners', 'listenerCount'],
]
const OTHERS = ['eventNames', 'setMaxListeners', 'getMaxListeners']

/** What EventEmitter keeps in the object: not enumerable here, or it would appear in JSON. */
const EMITTER_STATE = ['_events', '_eventsCount', '_maxListeners']

class LeasedFlakeId extends FlakeId {
  #lease
  #onClose

  /**
   * @param {OpenedGenerator} opened with a lease
   * @param {() => Promise<void>} onClose
   */
  constructor(opened, onClose) {
    if (!(opened instanceof OpenedGenerator)) {
      throw errors().optionError(
        TypeError,
        'options',
        opened,
        'LeasedFlakeId is made by await FlakeId.join(store, options)',
      )
    }
    super(opened)
    for (const state of EMITTER_STATE) Object.defineProperty(this, state, { value: undefined, writable: true })
    Reflect.apply(EventEmitter, this, [])
    this.#lease = /** @type {Lease | LeaseOrServers} */ (opened.lease)
    this.#onClose = onClose
  }

  get fingerprint() {
    return this.#lease.fingerprint
  }

  get lineage() {
    return this.#lease.lineage
  }

  get state() {
    return this.#lease.state
  }

  get slot() {
    return this.#lease.slot
  }

  get expires() {
    return this.#lease.expires
  }

  get source() {
    return this.#lease.source
  }

  get stats() {
    const stats = super.stats
    return 'fromServers' in this.#lease ? { ...stats, fromServers: this.#lease.fromServers } : stats
  }

  detach() {
    return this.#lease.detach()
  }

  /** @param {SignalOptions | null} [options] */
  async attach(options) {
    await this.#lease.attach(signalOf(options))
  }

  destroy() {
    return this.#lease.destroy()
  }

  async close() {
    try {
      await this.#lease.close()
    } finally {
      end(this)
      await this.#onClose()
    }
  }

  [Symbol.asyncDispose]() {
    return this.close()
  }

  /**
   * Without a slot there is no node number: somebody else may have the last one by now.
   * @param {Parameters<typeof textOf>[2]} how
   */
  [INSPECT](...how) {
    const { group, state, slot, expires } = this.#lease
    const source = this.source === 'server' ? 'server' : undefined
    const { layout, node, ...others } = shownOf(this)
    const ofSlot = state === 'attached' ? node : {}
    return textOf(this, { group, state, source, slot, expires, layout, ...ofSlot, ...others }, how)
  }

  /** @param {string[]} events */
  removeAllListeners(...events) {
    for (const event of events) checkEvent(event)
    return Reflect.apply(EventEmitter.prototype.removeAllListeners, this, events)
  }

  /**
   * @param {string} event
   * @param {unknown[]} details
   */
  emit(event, ...details) {
    checkEvent(event)
    return Reflect.apply(EventEmitter.prototype.emit, this, [event, ...details])
  }
}

/**
 * Tells the listeners. Waiting calls are tried again first: what they wait for may have come, or can no longer come.
 * @param {LeasedFlakeId} leased
 * @param {LeaseEvent} event
 * @param {LeaseDetail} detail
 */
function tell(leased, event, detail) {
  wake(leased)
  leased.emit(event, detail)
}

/**
 * @param {string} method
 * @param {Function} value
 */
function define(method, value) {
  Object.defineProperty(LeasedFlakeId.prototype, method, { value, writable: true, configurable: true })
}

// For users this is an ordinary EventEmitter except for its class: a class has one parent, and here that is FlakeId.
for (const method of OTHERS) define(method, Reflect.get(EventEmitter.prototype, method))
for (const method of NAMED) {
  const inherited = Reflect.get(EventEmitter.prototype, method)
  define(
    method,
    /**
     * @this {LeasedFlakeId}
     * @param {string} event
     * @param {unknown[]} args
     */
    function (event, ...args) {
      checkEvent(event)
      return Reflect.apply(inherited, this, [event, ...args])
    },
  )
}

/** @param {string} event */
function checkEvent(event) {
  if (EVENTS.includes(event) || event === ERROR) return
  throw errors().optionRangeError('event', event, `one of ${EVENTS.join(', ')}`)
}

exports.LeasedFlakeId = LeasedFlakeId
exports.tell = tell
