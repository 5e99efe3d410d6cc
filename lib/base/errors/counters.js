'use strict'
// @ts-check

// Errors about counters on a store, from which SegmentId takes its blocks.

const { flakeError } = require('./flake-error.js')
const { mismatchError } = require('./generators.js')
const { storeError } = require('./stores.js')

const SKIP = 'Call skipTo(n) with an n above every ID that was ever handed out.'

/**
 * Why a store gives no block; the keys are the words that its step answers with.
 * @type {Record<'gone' | 'behind' | 'full', (name: string, value?: bigint) => string>}
 */
const COUNTER_REFUSALS = {
  gone: (name) => `The store no longer has this counter '${name}'. It was removed, and perhaps made again. ${SKIP}`,
  behind: (name) =>
    `The store may have lost blocks of counter '${name}' in a restart, a failover or a restored backup. ${SKIP}`,
  full: (name, value) =>
    `Counter '${name}' is at ${value}, and the next block would end above 2^64 - 1. Use another counter, or a smaller block.`,
}

/**
 * `ERR_FLAKE_STORE`: a counter stands still, whatever the store does: somebody has to act. Its name tells this error from
 * those of a store that fails or refuses.
 * @param {string} name
 * @param {string} why
 */
const stoppedError = (name, why) => Object.assign(storeError(why), { counter: name })

/**
 * A counter gives no block. `why`: 'gone', 'behind' or 'full'; `value`: the counter's present value.
 * @param {'gone' | 'behind' | 'full'} why
 * @param {string} name
 * @param {bigint} [value]
 */
function counterError(why, name, value) {
  return stoppedError(name, COUNTER_REFUSALS[why](name, value))
}

/**
 * A counter is below the numbers that it has already given.
 * @param {string} name
 * @param {bigint} value
 * @param {bigint} known
 */
function wentBackError(name, value, known) {
  return stoppedError(
    name,
    `Counter '${name}' is at ${value}, but it has already given IDs up to ${known}. So the store has lost some. ${SKIP}`,
  )
}

/**
 * `ERR_FLAKE_CONFIG_MISMATCH`: the members of a counter vouch for its store, or they do not; this one says otherwise.
 * @param {string} name
 * @param {boolean} durable
 */
function counterMismatchError(name, durable) {
  return mismatchError(`counter '${name}'`, `durable ${durable}`, `durable ${!durable}`)
}

/**
 * `ERR_FLAKE_OVERFLOW`: fewer IDs are left than were asked for, and the next block is on its way.
 * @param {string} name
 * @param {number} block
 * @param {number} wanted
 * @param {number} here
 */
function blocksUsedUpError(name, block, wanted, here) {
  const message =
    `${wanted} IDs of counter '${name}' were asked for, but only ${here} are here. The next block arrives in a later turn of ` +
    `the event loop. next(callback), nextAsync() and takeAsync() wait for it. A block larger than ${block} lasts longer.`
  return flakeError(Error, 'ERR_FLAKE_OVERFLOW', message, { retryAfterMs: 1 })
}

/**
 * `ERR_FLAKE_DETACHED`: a member of a counter was closed.
 * @param {string} name
 */
function closedError(name) {
  return flakeError(
    Error,
    'ERR_FLAKE_DETACHED',
    `This generator of counter '${name}' is closed. SegmentId.open() makes another one.`,
  )
}

module.exports = {
  counterError,
  wentBackError,
  counterMismatchError,
  blocksUsedUpError,
  closedError,
}
