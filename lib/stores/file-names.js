'use strict'

// Where the file store keeps a group or counter. The rule is core/src/names.rs, which makes the files: this must never give
// another name than it.

const path = require('node:path')

/** Letters, digits, `-`, `_` and inner dots stand for themselves, other bytes as `%` and two digits. */
function fileName(name) {
  const bytes = [...Buffer.from(name)]
  return bytes.map((byte, i) => (isPlain(byte, i) ? String.fromCharCode(byte) : `%${hex(byte)}`)).join('')
}

const isPlain = (byte, i) => (i > 0 ? /[\w.-]/ : /[\w-]/).test(String.fromCharCode(byte))
const hex = (byte) => byte.toString(16).padStart(2, '0')

const groupFolder = (store, group) => path.join(store, fileName(group))

module.exports = { groupFolder }
