'use strict'

// What can happen to a member. Each fault affects one member, leaves it running, and says under which names it is counted.
// It must never wait for the other members: faults are meant to coincide.

const { setTimeout: sleep } = require('node:timers/promises')

const LOOK_MS = 10
const LONGEST_WAIT_MS = 6000

/** A random number, as likely between 10 and 20 as between 1 000 and 2 000, so that there are short and long faults. */
function spread(low, high) {
  return low * (high / low) ** Math.random()
}

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

/** Not far: the others may get this clock's time through the shared cursor, and then wait until their clocks are there. */
const setClockForward = {
  counts: ['kills', 'clock steps'],
  weight: 1,
  async strike(member) {
    await member.kill()
    member.start(spread(20, 2000))
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

/** Hands over a slot that is in use, if the member gets one in time: a member that waits has none to hand over. */
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
  async strike({ line }) {
    line.cut()
  },
}

/** Requests and answers come late, some of them when nobody waits for them any more. */
const stall = {
  counts: ['stalls'],
  weight: 3,
  async strike({ line }) {
    line.stall()
    await sleep(spread(200, 8000))
    line.flow()
  },
}

const refuse = {
  counts: ['refusals'],
  weight: 3,
  async strike({ line }) {
    line.bar()
    await sleep(spread(200, 8000))
    line.unbar()
  },
}

const process = [kill, pause, killWhilePaused, handOver]
const clock = [setClockBack, setClockForward]
/** Fewer kills: each one blocks a slot for the rest of its window, and without slots nothing is tested. */
const leased = [{ ...kill, weight: 5 }, longPause, killWhilePaused, handOverSlot, cut, stall, refuse]

/** One of them at random, by weight. */
function pick(faults) {
  let rest = Math.random() * faults.reduce((sum, { weight }) => sum + weight, 0)
  return faults.find(({ weight }) => {
    rest -= weight
    return rest < 0
  })
}

/**
 * How long a copy has not followed when it takes over: long enough for a slot that was free in the copy, or somebody
 * else's, to have been granted anew.
 */
const someLag = () => 500 + Math.random() * 4500

/** Counts a fault and lets it happen. */
function strike(fault, { counts, victim }) {
  for (const name of fault.counts) counts[name] = (counts[name] ?? 0) + 1
  return fault.strike(victim)
}

module.exports = { process, clock, leased, pick, someLag, spread, strike }
