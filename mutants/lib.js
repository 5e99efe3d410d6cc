'use strict'

// Tries the edits that mutants/lib/ lists: each in a copy of the project, with the tests that must notice it.
//
// A list is an array of { name, file, from, to, tests }: `from` is text that occurs once in `file`, `tests` are paths of
// files in __test__ without `.test.mjs`. It must never count an edit as noticed where the tests fail without it, or where
// the text it replaces is not there any more.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { copyProject, replaceOnce } = require('./copy.js')

const lists = path.join(__dirname, 'lib')

/** Whether these test files pass. */
function passes(copy, tests) {
  const files = tests.map((test) => `__test__/${test}.test.mjs`)
  return new Promise((resolve) => {
    const child = spawn('npx', ['ava', '--fail-fast', '--timeout=2m', ...files], {
      cwd: copy,
      stdio: 'ignore',
      env: { ...process.env, FLAKEFORGE_REQUIRE_SERVERS: '1' }, // a test that is skipped notices nothing
    })
    child.on('close', (code) => resolve(code === 0))
  })
}

/** Tries one edit: 'caught', 'MISSED', or what keeps it from being tried. */
async function tryEdit(copy, { file, from, to, tests }) {
  const place = path.join(copy, file)
  const before = fs.readFileSync(place, 'utf8')
  const after = replaceOnce(before, from, to)
  if (after === undefined) return `STALE: its text is not there once in ${file}`
  fs.writeFileSync(place, after)
  try {
    return (await passes(copy, tests)) ? 'MISSED' : 'caught'
  } finally {
    fs.writeFileSync(place, before)
  }
}

/** Tries one list, and returns the outcomes. */
async function tryList(copy, name) {
  const edits = require(path.join(lists, `${name}.js`))
  const broken = new Map() // test files, by whether they fail without an edit
  const outcomes = []
  for (const edit of edits) {
    const key = edit.tests.join(' ')
    if (!broken.has(key)) broken.set(key, !(await passes(copy, edit.tests)))
    const outcome = broken.get(key) ? `BROKEN: ${key} fails without it` : await tryEdit(copy, edit)
    console.log(`${outcome === 'caught' ? 'caught' : outcome}  ${name}: ${edit.name}`)
    outcomes.push(outcome)
  }
  return outcomes
}

/** Tries these lists, or all; resolves to whether every edit was caught. */
async function tryLists(names) {
  const all = fs.readdirSync(lists).map((file) => path.basename(file, '.js'))
  const unknown = names.find((name) => !all.includes(name))
  if (unknown !== undefined) throw new Error(`no list '${unknown}' in mutants/lib: there are ${all.join(', ')}`)
  const copy = copyProject()
  const outcomes = []
  try {
    for (const name of names.length > 0 ? names : all) outcomes.push(...(await tryList(copy, name)))
  } finally {
    fs.rmSync(copy, { recursive: true, force: true })
  }
  const caught = outcomes.filter((outcome) => outcome === 'caught').length
  console.log(`${caught} of ${outcomes.length} changes to lib/ were caught`)
  return caught === outcomes.length
}

module.exports = { tryLists }
