'use strict'

// The faults of a member. Each affects one member and leaves it running. None waits for the other members: faults are
// meant to coincide.

const { setTimeout: sleep } = require('node:timers/promises')
const { spread } = require('./fault.js')

const LOOK_MS = 10
const LONGEST_WAIT_MS = 6000

const kill = {
  counts: ['kills'],
  weight: 10,
  async strike(member) {
    await member.kill()
    member.start()
  },
}

const pause = {
  counts: ['pauses'],
  weight: 4,
  async strike(member) {
    member.pause()
    await sleep(spread(50, 2000))
    member.resume()
  },
}

const killWhilePaused = {
  counts: ['pauses', 'kills'],
  weight: 1,
  async strike(member) {
    member.pause()
    await sleep(spread(50, 500))
    await member.kill()
    member.start()
  },
}

const handOver = {
  counts: ['hand-overs'],
  weight: 3,
  async strike(member) {
    await member.end()
    member.start()
  },
}

const setClockBack = {
  counts: ['kills', 'clock steps'],
  weight: 2,
  async strike(member) {
    await member.kill()
    member.start(-spread(20, 10_000))
  },
}

/**
 * Not far: the others may get this clock's time through the shared cursor, and then wait until their clocks have
 * reached it.
 */
const setClockForward = {
  counts: ['kills', 'clock steps'],
  weight: 1,
  async strike(member) {
    await member.kill()
    member.start(spread(20, 2000))
  },
}

/** While it runs, to an offset that its scenario knows. */
const stepClock = {
  counts: ['clock steps'],
  weight: 4,
  async strike(victim) {
    victim.setClock()
  },
}

/** Long enough for a window to end in that time. */
const longPause = {
  counts: ['pauses'],
  weight: 4,
  async strike(member) {
    member.pause()
    await sleep(500 + Math.random() * 2500)
    member.resume()
  },
}

/** Hands over a slot in use, if the member gets one in time: a waiting member has none to hand over. */
const handOverSlot = {
  counts: ['hand-overs'],
  weight: 10,
  async strike(member) {
    await isMaking(member)
    await member.end()
    member.start()
  },
}

async function isMaking(member) {
  const before = member.sizes.join()
  for (const until = performance.now() + LONGEST_WAIT_MS; performance.now() < until; await sleep(LOOK_MS)) {
    if (member.sizes.join() !== before) return sleep(spread(50, 1000))
  }
}

const cut = {
  counts: ['cuts'],
  weight: 4,
  async strike({ proxy }) {
    proxy.cut()
  },
}

/** Requests and answers are late, some of them after their callers have given up. */
const stall = {
  counts: ['stalls'],
  weight: 3,
  async strike({ proxy }) {
    proxy.stall()
    await sleep(spread(200, 8000))
    proxy.flow()
  },
}

const refuse = {
  counts: ['refusals'],
  weight: 3,
  async strike({ proxy }) {
    proxy.refuse()
    await sleep(spread(200, 8000))
    proxy.accept()
  },
}

const process = [kill, pause, killWhilePaused, handOver]
const clock = [setClockBack, setClockForward]
/** Fewer kills: each one blocks a slot for the rest of its window, and without slots nothing is tested. */
const leased = [{ ...kill, weight: 5 }, longPause, killWhilePaused, handOverSlot, cut, stall, refuse]

/** Of a connection: the victim is an object with a proxy. */
const connection = [cut, stall, refuse]
/** Of a server that has a slot: a kill blocks it for the rest of its window. */
const service = [{ ...kill, weight: 3 }, longPause, killWhilePaused, handOver, ...connection]

module.exports = { process, clock, connection, leased, service, stepClock }
