'use strict'

// A generator whose node number is leased: a FlakeId that changes its node when it gets another slot, and tells so.
// Each attachment is a generator of the addon's of its own; nothing of an old one is ever used again.

const { EventEmitter } = require('node:events')
const hot = require('./hot.js')
const { FlakeId } = require('./flake-id.js')
const { Layout } = require('./layout.js')
const { optionRangeError, optionTypeError, problemError } = require('./errors.js')
const { Setup, insist, knobsOf } = require('./setup.js')

const NO_ID = -1
const EVENTS = ['attached', 'renewed', 'lost', 'detached', 'destroyed']

/** The addon's generator for a grant. */
function openAttachment(options, grant) {
  const { slot, lo, hi, cursor } = grant
  const own = { ...options, ...options.nodeOf(slot) }
  const [handle, knobs] = [Layout.native(options.layout), knobsOf(own)]
  const opened =
    cursor === undefined
      ? hot.generators.openWindow(handle, knobs, lo, hi)
      : hot.generators.openSlot(handle, knobs, cursor)
  return new Setup(own, insist(opened, `node ${own.node}`))
}

/** Makes the generator of a lease that gets its first slot meanwhile. */
async function lease(leaseOfGroup, options, onClose) {
  let leased
  let setup
  leaseOfGroup.hold({
    firstMs: (lo) => Layout.native(options.layout).firstMs(lo),
    open(grant) {
      setup = undefined
      setup = openAttachment(options, grant)
      if (leased !== undefined) FlakeId.attach(leased, setup)
    },
    raise({ lo, hi }) {
      setup.native.raise(lo, hi)
      if (leased !== undefined) FlakeId.wake(leased)
    },
    seal() {
      if (leased !== undefined) FlakeId.detach(leased)
      return setup === undefined ? NO_ID : setup.native.seal()
    },
    fault() {
      const problem = setup?.native.fault()
      return problem && problemError(problem)
    },
    tell: (event, detail) => leased?.[TELL](event, detail),
  })
  await leaseOfGroup.attach()
  leased = new LeasedFlakeId(new Setup(setup.options, setup.native, leaseOfGroup), onClose)
  return leased
}

const TELL = Symbol('tell')

class LeasedFlakeId extends FlakeId {
  #events = new EventEmitter()
  #lease
  #onClose

  constructor(setup, onClose) {
    if (!(setup instanceof Setup)) throw optionTypeError('options', setup, 'given to FlakeId.join(), which makes these')
    super(setup)
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

  attach() {
    return this.#lease.attach()
  }

  destroy() {
    return this.#lease.destroy()
  }

  async close() {
    await this.#lease.close()
    await this.#onClose()
  }

  [Symbol.asyncDispose]() {
    return this.close()
  }

  on(event, listener) {
    if (!EVENTS.includes(event)) throw optionRangeError('event', event, `one of ${EVENTS.join(', ')}`)
    this.#events.on(event, listener)
    return this
  }

  off(event, listener) {
    this.#events.off(event, listener)
    return this
  }

  /** In a turn of its own: a listener that throws must not end a step of the lease's in its middle. */
  [TELL](event, detail) {
    process.nextTick(() => {
      FlakeId.wake(this)
      this.#events.emit(event, detail)
    })
  }
}

module.exports = { LeasedFlakeId, lease }
