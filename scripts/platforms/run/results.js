'use strict'

// Parses the output of a run: how many checks or tests passed and failed. A run that was interrupted, or ran nothing,
// is a failure, whatever it printed before.

const { readAva } = require('../../ava-output.js')

/** Adds a failure to a run that has none, but did not end successfully. */
function asResult(passed, failed, status, output) {
  const isBroken = failed === 0 && (status !== 0 || passed === 0)
  return { passed, failed: isBroken ? 1 : failed, output: output.trim() }
}

/** The output of `__test__/smoke.cjs`: it stops at the first check that fails, and counts only when all have passed. */
function smokeResult({ status, output }) {
  const [, checks] = output.match(/^flakeforge works on .*: (\d+) checks$/m) ?? []
  return asResult(Number(checks ?? 0), 0, status, output)
}

/** The output of AVA. `output` has the failed tests, if any; and the end, which says whether it was killed. */
function avaResult({ status, output }) {
  const { passed, failed, details } = readAva(output)
  return asResult(passed, failed, status, failed > 0 && details !== '' ? details : output)
}

/** The version in a program's own output. */
const versionIn = (text) => text.match(/\d+\.\d+\.\d+/)?.[0] ?? '?'

module.exports = { avaResult, smokeResult, versionIn }
