'use strict'

// Reads what test runners print, line by line: how many tests passed and failed, and what the failed ones said. A
// reader's read(line) returns 'passed', 'failed' or 'skipped' for a line that is the result of a test.

/** Cargo's tests: `test name ... ok`, what each failed one printed, their names, the counts; once for each program. */
function cargoReader() {
  const counts = { passed: 0, failed: 0 }
  const failures = []
  let part = 'results'

  function readResult(line) {
    if (line === 'failures:') part = 'failures'
    const [, result] = line.match(/^test .* \.\.\. (ok|FAILED|ignored)/) ?? []
    return { ok: 'passed', FAILED: 'failed', ignored: 'skipped' }[result]
  }

  function readFailure(line) {
    const [, title] = line.match(/^---- (.*?)(?: stdout)? ----$/) ?? []
    if (title !== undefined) failures.push({ title, lines: [] })
    else if (line === 'failures:') part = 'names'
    else failures.at(-1)?.lines.push(line)
  }

  function read(line) {
    const [, passed, failed] = line.match(/^test result: .*? (\d+) passed; (\d+) failed/) ?? []
    if (passed !== undefined) {
      counts.passed += Number(passed)
      counts.failed += Number(failed)
      part = 'results'
    } else if (part === 'results') return readResult(line)
    else if (part === 'failures') readFailure(line)
  }

  return { read, results: () => ({ ...counts, failures: failures.map(asText) }) }
}

/** TAP as ava prints it: `ok 1 - title` or `not ok 1 - title`, then logs (`#   …`) and, after a failure, YAML. */
function tapReader() {
  const counts = { pass: 0, fail: 0 }
  const failures = []
  let failure // the failure that is being read

  function readResult(not, rest) {
    const [title, directive] = rest.split(/ # (SKIP|TODO)\b/)
    failure = not && directive === undefined ? { title, lines: [] } : undefined
    if (failure) failures.push(failure)
    if (directive !== undefined) return 'skipped'
    return not ? 'failed' : 'passed'
  }

  function read(line) {
    const [isResult, not, rest] = line.match(/^(not )?ok \d+ - (.*)$/) ?? []
    if (isResult) return readResult(not, rest)
    const [, word, number] = line.match(/^# (pass|fail) (\d+)$/) ?? []
    if (word) counts[word] += Number(number)
    else if (!['  ---', '  ...'].includes(line)) failure?.lines.push(line.replace(/^(?:# {3}| {4})/, ''))
  }

  return { read, results: () => ({ passed: counts.pass, failed: counts.fail, failures: failures.map(asText) }) }
}

const asText = ({ title, lines }) => ({ title, text: lines.join('\n').trim() })

module.exports = { cargoReader, tapReader }
