'use strict'
// @ts-check

// The names of records that stand for slots, as flakeforge gives them: `slot` and ten digits.

/** @param {number} n */
const slotName = (n) => `slot${String(n).padStart(10, '0')}`

module.exports = { slotName }
