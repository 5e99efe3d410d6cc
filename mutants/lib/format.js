'use strict'

// Small changes to lib/layout/format.js, each of which a test must notice. See mutants/lib.js.

module.exports = [
  {
    name: 'biguint-format: octal with the bits that the package loses',
    file: 'biguint-format.js',
    from: '  bytes[0] &= 0xff >> ((bytes.length * 8) % 3)\n',
    to: '',
    tests: ['layout/biguint-format'],
  },
  {
    name: 'biguint-format: one zero in octal',
    file: 'biguint-format.js',
    from: "digits === '0' ? '0'.repeat(count - (bytes.length - 1)) : digits",
    to: 'digits',
    tests: ['layout/biguint-format'],
  },
  {
    name: 'biguint-format: decimal is little-endian as the others are',
    file: 'biguint-format.js',
    from: "=== 'LE') bytes.reverse()",
    to: "!== 'BE') bytes.reverse()",
    tests: ['layout/biguint-format'],
  },
  {
    name: 'biguint-format: a delimiter is literal',
    file: 'biguint-format.js',
    from: "between.includes('$', 1)",
    to: "between.includes('$', 99)",
    tests: ['layout/biguint-format'],
  },
  {
    name: 'biguint-format: a line keeps its last byte',
    file: 'biguint-format.js',
    from: 'i < lines.length - 1 ? -1 : undefined',
    to: 'undefined',
    tests: ['layout/biguint-format'],
  },
  {
    name: 'biguint-format: bytes of any length are an ID',
    file: 'biguint-format.js',
    from: 'Buffer.isBuffer(number) && number.length === 8',
    to: 'Buffer.isBuffer(number) && number.length >= 8',
    tests: ['layout/biguint-format'],
  },
  {
    name: 'biguint-format: inherited names are no bases',
    file: 'biguint-format.js',
    from: 'const FORMATS = { dec:',
    to: 'const FORMATS = { __proto__: null, dec:',
    tests: ['layout/biguint-format'],
  },
  {
    name: 'texts of one batch are all as wide as the first',
    file: 'lib/native/texts.js',
    from: "width > 0 ? from + width : text.indexOf(' ', from)",
    to: "from + (width > 0 ? width : text.indexOf(' '))",
    tests: ['layout/take-strings'],
  },
  {
    name: 'a few IDs that had to wait are lost as text',
    file: 'lib/generator/flake-id.js',
    from: 'this.#take(fillBytes, some, count) ?? some',
    to: 'this.#take(fillBytes, some, count) && some',
    tests: ['layout/take-strings'],
  },
  {
    name: 'an unknown base takes numbers of SegmentId',
    file: 'lib/lease/segment/segment-id.js',
    from: '    const code = baseCode(base)\n    return toTexts(this.take(n), n, code)',
    to: '    return toTexts(this.take(n), n, baseCode(base))',
    tests: ['layout/take-strings'],
  },
  {
    name: "trim takes a number's last zero too",
    file: 'lib/codec/text.js',
    from: '/^0+(?=.)/',
    to: '/^0+/',
    tests: ['layout/format'],
  },
  {
    name: 'the prefix does not count as part of the size',
    file: 'lib/codec/text.js',
    from: ' - prefix.length',
    to: '',
    tests: ['layout/format'],
  },
  {
    name: 'bytes of any length are spelled as an ID',
    file: 'lib/layout/format.js',
    from: 'isUint8Array(id) && id.length === 8',
    to: 'isUint8Array(id)',
    tests: ['layout/format'],
  },
  {
    name: 'a negative size counts',
    file: 'lib/codec/text.js',
    from: 'if (size <= 0) return digits',
    to: 'if (size === 0) return digits',
    tests: ['layout/format'],
  },
]
