'use strict'

// What `advance` on etcd decides about a counter: a pure function, as in steps.js.
// It must never hand out a block twice: where writes may be lost it refuses until somebody says where to go on.

const { counterError } = require('../../errors')
const { newNonce } = require('./group')

const MAX = 2n ** 64n - 1n

/**
 * Whether blocks may be lost: the value is below what this client was given, or the store went back and nobody has
 * said since where to go on (who does leaves another nonce, and one word is enough for all members).
 */
function isBehind(record, { cluster, losses }, memory) {
  if (record.cluster !== cluster || BigInt(record.value) < memory.value) return true
  return losses > memory.losses && (memory.nonce ?? record.nonce) === record.nonce
}

/** The counter's record before the step adds to it, or an error. */
function base(look, { name, by, init, memory }) {
  const isSkip = by === 0n && init !== undefined
  const made = (value) => ({ value, nonce: newNonce() })
  if (look.record === undefined) {
    // a member that was given more knows that the counter was lost
    if (init === undefined || (!isSkip && init < memory.value)) return { error: counterError('gone', name) }
    return made(init)
  }
  const value = BigInt(look.record.value)
  const next = isSkip && init > value ? init : value
  if (!isBehind(look.record, look, memory)) return { value: next, nonce: look.record.nonce }
  return isSkip ? made(next) : { error: counterError('behind', name) }
}

/** plan: { record, answer } or { error } */
function advance(look, about) {
  const { value, nonce, error } = base(look, about)
  if (error) return { error }
  const after = value + about.by
  if (after > MAX) return { error: counterError('full', about.name, value) }
  return { record: { value: String(after), nonce, cluster: look.cluster }, answer: value }
}

module.exports = { advance }
