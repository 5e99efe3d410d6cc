'use strict'

// The dialects as lib/codec/dialects.ts has them, from the first of the core's vectors. It has them from
// core/src/layout/dialects.rs.

const { readFileSync } = require('node:fs')
const path = require('node:path')

const VECTORS = path.join(__dirname, '..', '..', '__test__', 'vectors', 'codec.jsonl')

/** What most rows have; a row leaves it out. */
const USUAL = { epoch: 0, tickNs: 1_000_000, hasNodes: false, maxAheadMs: 0, maxWaitMs: 0 }

const isUnusual = ([key, value]) => USUAL[key] !== value

/** JSON has no Infinity: the core writes null. */
const knob = (ms) => ms ?? Number.POSITIVE_INFINITY

function rowOf({ name, epoch, tickNs, hasNodes, maxAheadMs, maxWaitMs, isDecimal, fields, nodes }) {
  const numbers = { epoch, tickNs, hasNodes, maxAheadMs: knob(maxAheadMs), maxWaitMs: knob(maxWaitMs) }
  // Field by field, from the most significant bit. A decimal layout has none, but a node field of two digits.
  const shape = isDecimal ? { host: nodes[0] } : { fields }
  return { name, ...Object.fromEntries(Object.entries(numbers).filter(isUnusual)), ...shape }
}

/** The default first. */
function rows() {
  const [, dialects] = readFileSync(VECTORS, 'utf8').split('\n', 2)
  return JSON.parse(dialects).map(rowOf)
}

module.exports = { rows }
