'use strict'

// Mistakes that the rules must not have: each is an edit that a test must notice, nearly always one of the model.
//
// { name, edits: [[file, from, to], …], tests }: `from` is text that occurs once in core/src/`file`; `tests` are a test
// target of the core and the names of its tests, or of a module of tests with `::`. At least one of them must fail.

module.exports = [
  ...require('./slots.js'),
  ...require('./groups.js'),
  ...require('./counters.js'),
  ...require('./lease.js'),
]
