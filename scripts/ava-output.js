'use strict'

// Parses the lines that ava prints about tests. The details of failures come after a line with one dash.

const isPassed = (line) => /^ *[✔√] /.test(line)
const isSkipped = (line) => /^ *- \[skip\]/.test(line)
/** Of a test, or of a file that ended without its tests' results. */
const isFailure = (line) => /^ *(?:[✘×] |Uncaught exception in |Unhandled rejection in )/.test(line)

/** The line at the end of a test file. */
const endLine = (file, ms) => `— ${partOf(file)}: ended after ${(ms / 1000).toFixed(1)} s`
/** What it says; undefined for another line. */
const readEnd = (line) => line.match(/^— (.*: ended after [\d.]+ s)$/)?.[1]

/** A test file as `npm test -- lease/faults` names it. */
const partOf = (file) => /(?:.*__test__\/)?(.*)\.test\.mjs$/.exec(file.replaceAll('\\', '/'))[1]

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

module.exports = { endLine, isFailure, isPassed, partOf, readAva, readEnd }
