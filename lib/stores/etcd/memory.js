'use strict'

// What a client remembers of each group and counter, so that it sees when the store went back.
// It must never forget a loss before a step has answered for it in the record.

/** Before the first look: what is found is taken as it is, unless that very look shows a loss. */
const noMemory = (losses) => ({ nonce: undefined, since: Number.NEGATIVE_INFINITY, losses, value: undefined })

/** After a step that ended with this record. Steps may overlap, and an earlier one must not undo what a later saw. */
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
 * Whether another step of this client has seen more than this look shows, while the look was on its way. Then nothing
 * follows from it: it may be from before that step, and the store may have gone back after it.
 */
function isOvertaken({ record }, before, memory) {
  if (memory.nonce === before.nonce && memory.value === before.value) return false
  return record?.nonce !== memory.nonce || (memory.value !== undefined && BigInt(record.value) < memory.value)
}

module.exports = { noMemory, remembered, isOvertaken }
