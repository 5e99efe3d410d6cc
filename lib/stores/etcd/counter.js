'use strict'

// What `advance` on etcd decides about a counter: a pure function, as in steps.js.
// It must never hand out a block twice: where writes may be lost it refuses until somebody says where to continue.

const { counterError } = require('../../errors')
const { newNonce } = require('./group')

const MAX = 2n ** 64n - 1n

/**
 * Whether blocks may be lost: the value is below what this client was given, or the store went back since, or the nonce
 * is another one, because the counter was lost and created again. When one member has said where to continue, that is
 * enough for all: the record gets a new nonce and is settled.
 */
function isBehind(record, { cluster, losses }, memory) {
  if (record.cluster !== cluster || BigInt(record.value) < memory.value) return true
  const isAnother = memory.nonce !== undefined && memory.nonce !== record.nonce
  return isAnother ? !record.settled : losses > memory.losses
}

/** The counter's record before the step adds to it, or an error. */
function base(look, { name, by, init, memory }) {
  const { record } = look
  const isSkip = by === 0n && init !== undefined
  const made = (value) => ({ value, nonce: newNonce(), settled: isSkip })
  if (record === undefined) {
    // a member that got higher numbers knows that the counter was lost
    if (init === undefined || (!isSkip && init < memory.value)) return { error: counterError('gone', name) }
    return made(init)
  }
  const value = BigInt(record.value)
  const next = isSkip && init > value ? init : value
  if (isBehind(record, look, memory)) return isSkip ? made(next) : { error: counterError('behind', name) }
  return { value: next, nonce: record.nonce, settled: record.settled || isSkip }
}

/** plan: { record, answer } or { error } */
function advance(look, about) {
  const { value, error, ...lineage } = base(look, about)
  if (error) return { error }
  const after = value + about.by
  if (after > MAX) return { error: counterError('full', about.name, value) }
  return { record: { ...lineage, value: String(after), cluster: look.cluster }, answer: value }
}

module.exports = { advance }
