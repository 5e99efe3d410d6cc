'use strict'

// The dialects as lib/codec/dialects.js has them, from the addon, which has them from core/src/layout/dialects.rs.

const native = require('../../lib/native/index.js')

/** What most rows have; a row leaves it out. */
const USUAL = { epoch: 0, tickNs: 1_000_000, hasNodes: false, maxAheadMs: 0, maxWaitMs: 0 }

const isUnusual = ([key, value]) => USUAL[key] !== value

/** Field by field, from the most significant bit. A decimal layout has none, but a node field of two digits. */
function shapeOf({ isDecimal, names, widths, nodeFields }) {
  return isDecimal ? { host: nodeFields[0].name } : { fields: names.map((name, i) => [name, widths[i]]) }
}

function rowOf(name) {
  const layout = new native.Layout({ name })
  const { epoch, hasNodes, maxAheadMs, maxWaitMs, scale } = layout
  const numbers = { epoch, tickNs: scale.tickNs, hasNodes, maxAheadMs, maxWaitMs }
  return { name, ...Object.fromEntries(Object.entries(numbers).filter(isUnusual)), ...shapeOf(layout) }
}

/** The default first. */
const rows = () => native.dialects().map(rowOf)

module.exports = { rows }
