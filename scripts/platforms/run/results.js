'use strict'

// Reads what a run printed: how many checks or tests passed and failed. A run that broke off, or ran nothing, is a failure,
// whatever it printed before.

const { readAva } = require('../../ava-output.js')

/** Adds a failure to a run that has none, but did not end well. */
function asResult(passed, failed, status, output) {
  const isBroken = failed === 0 && (status !== 0 || passed === 0)
  return { passed, failed: isBroken ? 1 : failed, output: output.trim() }
}

/** What `__test__/smoke.cjs` said: it stops at the first check that fails, and counts only when all have passed. */
function smokeResult({ status, output }) {
  const [, checks] = output.match(/^flakeforge works on .*: (\d+) checks$/m) ?? []
  return asResult(Number(checks ?? 0), 0, status, output)
}

/** What AVA said. The output is what failed, if tests did; and the end, which says whether it was ended. */
function avaResult({ status, output }) {
  const { passed, failed, details } = readAva(output)
  return asResult(passed, failed, status, failed > 0 && details !== '' ? details : output)
}

/** The version in what a program says about itself. */
const versionIn = (text) => text.match(/\d+\.\d+\.\d+/)?.[0] ?? '?'

module.exports = { avaResult, smokeResult, versionIn }
