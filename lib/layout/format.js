'use strict'
// @ts-check

// format() where there is an addon, which writes the digits sooner: 8 bytes, what most calls have, through the scratch
// array. Everything else of it is lib/codec/text.js.

const { isUint8Array } = require('../base/objects.js')
const { formatBy } = require('../codec/text.js')
const native = require('../native/index.js')
const { baseCode, toText } = require('../native/texts.js')

const formatOther = formatBy((bytes, base) =>
  bytes.length === 8 ? toText(bytes, baseCode(base)) : /** @type {string} */ (native.digits(bytes, base)),
)

/**
 * The number as text.
 * @param {unknown} id
 * @param {string} [base]
 * @param {unknown} [options]
 */
function format(id, base, options) {
  if (options === undefined && isUint8Array(id) && id.length === 8) return toText(id, baseCode(base))
  return formatOther(id, base, options)
}

module.exports = { format }
