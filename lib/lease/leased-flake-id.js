'use strict'

// A generator whose node number is leased: a FlakeId that changes its node number when it gets another slot, and emits
// events about it. Each slot gets a new generator of the addon. It must never use anything of an old one again.

const { EventEmitter } = require('node:events')
const { signalOf } = require('../base/abort.js')
const hot = require('../generator/hot.js')
const { FlakeId } = require('../generator/flake-id.js')
const { INSPECT, look } = require('../base/inspect.js')
const { Setup, insist, knobsOf } = require('../generator/opened-generator.js')

const errors = () => require('../base/errors.js') // loaded when the first one is made

/** What is told of a lease. */
const EVENTS = ['attached', 'renewed', 'lost', 'detached', 'destroyed']
/** It is never emitted, but events.once() and events.on() listen to it. */
const ERROR = 'error'

/** Methods of EventEmitter that take an event's name first. */
const NAMED = [
  ...['on', 'addListener', 'prependListener', 'once', 'prependOnceListener', 'off', 'removeListener'],
  ...['emit', 'listeners', 'rawListeners', 'listenerCount'],
]
const OTHERS = ['eventNames', 'setMaxListeners', 'getMaxListeners']

/** The addon's generator for a grant. Throws if something else in this process has its node number. */
function openAttachment(options, grant) {
  const { slot, lo, hi, cursor } = grant
  const own = { ...options, ...options.nodeOf(slot) }
  const [handle, knobs] = [options.facts.native, knobsOf(own)]
  const opened =
    cursor === undefined
      ? hot.generators.openWindow(handle, knobs, lo, hi)
      : hot.generators.openSlot(handle, knobs, cursor)
  return new Setup(own, insist(opened, `node ${own.node}`))
}

/** Gets a lease its first slot, and makes its generator. */
async function lease(leaseOfGroup, options, onClose) {
  let leased
  let setup
  leaseOfGroup.hold({
    firstMs: (lo) => options.facts.native.firstMs(lo),
    open(grant) {
      try {
        setup = openAttachment(options, grant)
      } catch (error) {
        return error
      }
      if (leased !== undefined) FlakeId.attach(leased, setup)
    },
    raise: ({ lo, hi }) => setup.native.raise(lo, hi),
    seal() {
      if (leased !== undefined) FlakeId.detach(leased)
      return setup.native.seal()
    },
    fault() {
      const problem = setup?.native.fault()
      return problem && errors().problemError(problem)
    },
    tell: (event, detail) => leased?.[TELL](event, detail),
  })
  await leaseOfGroup.attach(options.signal)
  leased = new LeasedFlakeId(new Setup(setup.options, setup.native, leaseOfGroup), onClose)
  return leased
}

const TELL = Symbol('tell')
/** What EventEmitter keeps in the object: not enumerable here, or it would appear in JSON. */
const EMITTER_STATE = ['_events', '_eventsCount', '_maxListeners']

class LeasedFlakeId extends FlakeId {
  #lease
  #onClose

  constructor(setup, onClose) {
    if (!(setup instanceof Setup)) {
      throw errors().optionError(
        TypeError,
        'options',
        setup,
        'LeasedFlakeId is made by await FlakeId.join(store, options)',
      )
    }
    super(setup)
    for (const state of EMITTER_STATE) Object.defineProperty(this, state, { value: undefined, writable: true })
    EventEmitter.call(this)
    this.#lease = setup.lease
    this.#onClose = onClose
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

  detach() {
    return this.#lease.detach()
  }

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
      FlakeId.end(this)
      await this.#onClose()
    }
  }

  [Symbol.asyncDispose]() {
    return this.close()
  }

  /** Without a slot there is no node number: somebody else may have the last one by now. */
  [INSPECT](...how) {
    const { group, state, slot, expires } = this.#lease
    const { node, ...others } = FlakeId.facts(this)
    const ofSlot = state === 'attached' ? node : {}
    return look(this, { group, state, slot, expires, layout: others.layout, ...ofSlot, ...others }, how)
  }

  removeAllListeners(...events) {
    for (const event of events) checkEvent(event)
    return EventEmitter.prototype.removeAllListeners.apply(this, events)
  }

  /** Tries waiting calls again: what they wait for may have come, or can no longer come. */
  [TELL](event, detail) {
    FlakeId.wake(this)
    this.emit(event, detail)
  }
}

function define(method, value) {
  Object.defineProperty(LeasedFlakeId.prototype, method, { value, writable: true, configurable: true })
}

// For users this is an ordinary EventEmitter except for its class: a class has one parent, and here that is FlakeId.
const inherited = EventEmitter.prototype
for (const method of OTHERS) define(method, inherited[method])
for (const method of NAMED) {
  define(method, function (event, ...args) {
    checkEvent(event)
    return inherited[method].call(this, event, ...args)
  })
}

function checkEvent(event) {
  if (EVENTS.includes(event) || event === ERROR) return
  throw errors().optionRangeError('event', event, `one of ${EVENTS.join(', ')}`)
}

module.exports = { LeasedFlakeId, lease }
