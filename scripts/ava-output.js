'use strict'

// What the lines that ava prints say of tests. The details of what failed come after a line with one dash.

const isPassed = (line) => /^ *[✔√] /.test(line)
const isSkipped = (line) => /^ *- \[skip\]/.test(line)
/** Of a test, or of a file that ended in another way. */
const isFailure = (line) => /^ *(?:[✘×] |Uncaught exception in |Unhandled rejection in )/.test(line)

/** How many tests passed, were skipped and failed, and what is said of those that failed. */
function readAva(output) {
  const lines = output.split('\n')
  const count = (is) => lines.filter(is).length
  const [, ...details] = output.split(/^ *─$/m)
  return {
    passed: count(isPassed),
    skipped: count(isSkipped),
    failed: count(isFailure),
    details: details.join('').trim(),
  }
}

module.exports = { isFailure, isPassed, readAva }
