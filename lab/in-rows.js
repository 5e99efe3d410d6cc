'use strict'

// JSON for records that people read: indented, with each innermost object on one line.

const inRows = (value) =>
  `${JSON.stringify(value, null, 2).replaceAll(/\{\n[^{}]*\}/g, (inner) => inner.replaceAll(/\n\s*/g, ' '))}\n`

module.exports = { inRows }
