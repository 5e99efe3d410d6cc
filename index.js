'use strict'

// The public face for CommonJS: require('flakeforge') is the class, with every export as a property of it.
// index.mjs is its ES twin, index.d.ts its types; a new export goes into all three.

const { FlakeId } = require('./lib/flake-id.js')
const { format, parse } = require('./lib/format.js')
const { Layout, layouts } = require('./lib/layout.js')
const { LeasedFlakeId } = require('./lib/leased-flake-id.js')
const { createGroup } = require('./lib/join.js')
const { SegmentId } = require('./lib/segment-id.js')
const adapters = require('./lib/stores/adapters.js')
const { compare, fromSigned, toBigInt, toSigned } = require('./lib/ids.js')

module.exports = Object.assign(FlakeId, {
  FlakeId,
  default: FlakeId,
  LeasedFlakeId,
  SegmentId,
  createGroup,
  ...adapters,
  Layout,
  layouts,
  format,
  parse,
  toBigInt,
  toSigned,
  fromSigned,
  compare,
})
