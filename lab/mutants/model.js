'use strict'

// Tries the edits that core/tests/model/mutants.js lists: each in a copy of the project, with the tests of the core that
// must notice it. An edit does not count as noticed where the tests fail without it, where it does not compile, or
// where its text is missing.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { copyProject, replaceOnce } = require('./copy.js')

const root = path.join(__dirname, '..', '..')
const MUTANTS = path.join(root, 'core', 'tests', 'model', 'mutants.js')
const TARGET = path.join(root, 'target', 'model-mutants')
/** The longest time for the tests of one edit. */
const TEST_MS = 30 * 60_000

function cargo(copy, args, timeout) {
  const env = { ...process.env, CARGO_TARGET_DIR: TARGET }
  return spawnSync('cargo', args, { cwd: copy, env, encoding: 'utf8', timeout }).status === 0
}

/** Whether the tests pass; `undefined` if they do not compile. */
function passes(copy, tests) {
  const [target, ...names] = tests.split(' ')
  const args = ['test', '--locked', '--package', 'flakeforge-core', '--test', target]
  if (!cargo(copy, [...args, '--no-run'])) return undefined
  const isExact = names.length > 0 && !names.some((name) => name.endsWith('::'))
  return cargo(copy, [...args, '--', ...names, ...(isExact ? ['--exact'] : [])], TEST_MS)
}

/** Tries one edit: 'caught', 'MISSED', or the reason why it cannot be tried. */
function tryEdit(copy, { edits, tests }) {
  const before = new Map()
  try {
    for (const [file, from, to] of edits) {
      const place = path.join(copy, 'core', 'src', file)
      const text = fs.readFileSync(place, 'utf8')
      if (!before.has(place)) before.set(place, text)
      const after = replaceOnce(text, from, to)
      if (after === undefined) return `STALE: its text does not occur exactly once in ${file}`
      fs.writeFileSync(place, after)
    }
    const isPassed = passes(copy, tests)
    if (isPassed === undefined) return 'BROKEN: it does not compile'
    return isPassed ? 'MISSED' : 'caught'
  } finally {
    for (const [place, text] of before) fs.writeFileSync(place, text)
  }
}

/** Tries all edits whose names contain one of these words; returns whether every one was caught. */
function tryModel(words) {
  const all = require(MUTANTS)
  const wanted = all.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
  const copy = copyProject()
  let caught = 0
  try {
    const tests = [...new Set(wanted.map((edit) => edit.tests))]
    const broken = new Set(tests.filter((names) => passes(copy, names) !== true))
    for (const edit of wanted) {
      const began = Date.now()
      const outcome = broken.has(edit.tests) ? `BROKEN: ${edit.tests} fails without it` : tryEdit(copy, edit)
      console.log(`${outcome}  ${edit.name}  (${edit.tests}; ${Math.round((Date.now() - began) / 1000)} s)`)
      if (outcome === 'caught') caught++
    }
  } finally {
    fs.rmSync(copy, { recursive: true, force: true })
  }
  console.log(`${caught} of ${wanted.length} mistakes in the rules were caught`)
  return caught === wanted.length
}

module.exports = { tryModel }
