'use strict'

// Small changes to lib/format.js, each of which a test must notice. See mutants/lib.js.

module.exports = [
  {
    name: "trim takes a number's last zero too",
    file: 'lib/format.js',
    from: '/^0+(?=.)/',
    to: '/^0+/',
    tests: ['format'],
  },
  {
    name: 'the prefix does not count as part of the size',
    file: 'lib/format.js',
    from: ' - prefix.length',
    to: '',
    tests: ['format'],
  },
  {
    name: 'bytes of any length are spelled as an ID',
    file: 'lib/format.js',
    from: 'isUint8Array(id) && id.length === 8',
    to: 'isUint8Array(id)',
    tests: ['format'],
  },
  {
    name: 'a negative size counts',
    file: 'lib/format.js',
    from: 'if (size <= 0) return digits',
    to: 'if (size === 0) return digits',
    tests: ['format'],
  },
]
