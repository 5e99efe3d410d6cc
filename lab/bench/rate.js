'use strict'

// The speed of a call while neighbours do the same, in other threads or processes.

const { median } = require('./report.js')

const WHILE_MS = 500
const BURST_MS = 1
const LATE_MS = 0.05
const BURSTS = 300
const EVERY_MS = 5
const STRETCH = 100

/** IDs as fast as they can be taken: this layout never waits for the clock. */
const ENDLESS = { layout: 'chronicle', id: 5 }

/** Milliseconds on a clock that all processes of the machine share. */
function now() {
  const [seconds, ns] = process.hrtime()
  return seconds * 1000 + ns / 1e6
}

function warmUp(call) {
  for (let i = 0; i < 100_000; i++) call()
}

/** Calls until this many ms have passed since an instant. Returns the number of calls. */
function callUntil(call, start, ms) {
  let calls = 0
  for (; now() - start < ms; calls += STRETCH) for (let i = 0; i < STRETCH; i++) call()
  return calls
}

const cell = new Int32Array(new SharedArrayBuffer(4))

function sleepUntil(instant) {
  Atomics.wait(cell, 0, 0, Math.max(0, instant - now() - 0.3)) // a sleep may last a little longer
  while (now() < instant);
}

/**
 * Million calls/s in bursts, each with its number. They begin at instants that all processes know, so that neighbours
 * call at the same time. A burst that began late, because the CPU was busy with something else, is skipped.
 */
function rates(call) {
  const bursts = []
  for (let i = 0; i < BURSTS; i++) {
    const start = Math.ceil(now() / EVERY_MS + 0.2) * EVERY_MS
    sleepUntil(start)
    if (now() - start > LATE_MS) continue
    bursts.push([start / EVERY_MS, callUntil(call, start, BURST_MS) / (now() - start) / 1000])
  }
  return bursts
}

/** The combined rate of the neighbours, million calls/s: the median of the bursts that none of them skipped. */
function together(rates) {
  const [first, ...others] = rates.map((bursts) => new Map(bursts))
  const whole = [...first.keys()].filter((burst) => others.every((bursts) => bursts.has(burst)))
  return median(whole.map((burst) => others.reduce((sum, bursts) => sum + bursts.get(burst), first.get(burst))))
}

/** Calls for a while, and returns the number of calls. */
const callForAWhile = (call) => callUntil(call, now(), WHILE_MS)

module.exports = { ENDLESS, callForAWhile, rates, together, warmUp }
