'use strict'

// Parses the lines that ava prints about tests. The details of failures come after a line with one dash.

const isPassed = (line) => /^ *[✔√] /.test(line)
const isSkipped = (line) => /^ *- \[skip\]/.test(line)
/** Of a test, or of a file that ended without its tests' results. */
const isFailure = (line) => /^ *(?:[✘×] |Uncaught exception in |Unhandled rejection in )/.test(line)

/** How many tests passed, were skipped and failed, and the output about the failed ones. */
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
