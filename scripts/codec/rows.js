'use strict'

// The dialects as lib/codec/dialects.ts has them, from __test__/vectors/dialects.jsonl, which the core printed from
// core/src/layout/dialects.rs.

const { readFileSync } = require('node:fs')
const path = require('node:path')

const TABLE = path.join(__dirname, '..', '..', '__test__', 'vectors', 'dialects.jsonl')

/** What most rows have; a row leaves it out. */
const USUAL = { epoch: 0, tickNs: 1_000_000, hasNodes: false, maxAheadMs: 0, maxWaitMs: 0 }

const isUnusual = ([key, value]) => USUAL[key] !== value

/** JSON has no Infinity: the core writes null. */
const knob = (ms) => ms ?? Number.POSITIVE_INFINITY

function rowOf({ name, epoch, tickNs, hasNodes, maxAheadMs, maxWaitMs, fields, host }) {
  const numbers = { epoch, tickNs, hasNodes, maxAheadMs: knob(maxAheadMs), maxWaitMs: knob(maxWaitMs) }
  // Field by field, from the most significant bit. A decimal layout has none, but a node field of two digits.
  return { name, ...Object.fromEntries(Object.entries(numbers).filter(isUnusual)), ...(host ? { host } : { fields }) }
}

/** What the core printed, the default first. */
const printed = () =>
  readFileSync(TABLE, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

const rows = () => printed().map(rowOf)

module.exports = { printed, rows }
