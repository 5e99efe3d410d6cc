'use strict'

// What a client remembers of each group and counter, so that it notices when the store went back. It must never forget
// a loss before a step has dealt with it in the record.

/** Before the first look: whatever it finds is accepted, unless the look itself shows a loss. */
const noMemory = (losses) => ({ nonce: undefined, since: Number.NEGATIVE_INFINITY, losses, value: undefined })

/**
 * After a step that ended with this record. Steps may overlap, and an earlier one must not undo what a later one saw.
 */
function remembered(memory, { losses }, { nonce, since, value }) {
  const isSame = nonce === memory.nonce
  const number = value === undefined ? undefined : BigInt(value)
  return {
    nonce,
    since,
    losses: Math.max(memory.losses, losses),
    value: isSame && memory.value > number ? memory.value : number,
  }
}

/**
 * Whether another step of this client has seen more than this look, while the look was under way. Then the look proves
 * nothing: either it is older than that step, or the store went back after it.
 */
function isOvertaken({ record }, before, memory) {
  if (memory.nonce === before.nonce && memory.value === before.value) return false
  return record?.nonce !== memory.nonce || (memory.value !== undefined && BigInt(record.value) < memory.value)
}

module.exports = { noMemory, remembered, isOvertaken }
