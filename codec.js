'use strict'

// The exports of `flakeforge/codec` for CommonJS: layouts and IDs in all their forms, in plain JavaScript, for Node, browsers
// and workers. codec.mjs is its ES twin. In Node they are the same functions as those of the main entry, but for format(),
// which the addon makes faster there.

const { Layout, makeLayouts } = require('./lib/codec/layout.js')
const { compare, fromSigned, toBigInt, toSigned } = require('./lib/codec/ids.js')
const { format, parse } = require('./lib/codec/text.js')

exports.Layout = Layout
exports.layouts = makeLayouts()
exports.format = format
exports.parse = parse
exports.toBigInt = toBigInt
exports.toSigned = toSigned
exports.fromSigned = fromSigned
exports.compare = compare
