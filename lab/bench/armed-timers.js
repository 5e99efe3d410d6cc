'use strict'

// Counts timers that are armed. It must be loaded before the generators, because flakeforge keeps the timers it finds.

const timers = require('node:timers')

let armed = 0
let most = 0

const { setTimeout: arm, clearTimeout: disarm } = timers

timers.setTimeout = (callback, ...rest) => {
  most = Math.max(most, ++armed)
  return arm(
    () => {
      armed--
      callback()
    },
    ...rest,
  )
}

timers.clearTimeout = (timer) => {
  if (timer !== undefined) armed--
  disarm(timer)
}

globalThis.setTimeout = timers.setTimeout
globalThis.clearTimeout = timers.clearTimeout

/** The maximum that were armed at the same time. */
const mostArmed = () => most

module.exports = { mostArmed }
