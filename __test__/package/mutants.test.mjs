// `npm run mutants` is up to date: the mistakes of `model` replace text that is in the core, and the files of the weekly run
// are those whose tests are known.

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'

const root = path.join(import.meta.dirname, '..', '..')
const core = path.join(root, 'core')
const require = createRequire(import.meta.url)
const mistakes = require(path.join(core, 'tests', 'model', 'mutants.js'))
const { WEEKLY } = require(path.join(root, 'lab', 'mutants', 'files.js'))

test('the replaced text of each edit of the core occurs once', (t) => {
  const edits = mistakes.flatMap(({ name, edits }) => edits.map(([file, from]) => ({ name, file, from })))
  const count = ({ file, from }) => readFileSync(path.join(core, 'src', file), 'utf8').split(from).length - 1
  t.deepEqual(
    edits.filter((edit) => count(edit) !== 1).map(({ name }) => name),
    [],
  )
  t.is(mistakes.length, 65)
})

test('the weekly run tries the files whose tests are known, and these exist', (t) => {
  const workflow = readFileSync(path.join(root, '.github', 'workflows', 'mutants.yml'), 'utf8')
  const tried = workflow.match(/(?<=- )lib\/.+/g)
  t.deepEqual(tried, Object.keys(WEEKLY))
  const tests = Object.values(WEEKLY).flatMap((names) => names.map((name) => `__test__/${name}.test.mjs`))
  t.deepEqual(
    [...tried, ...tests].filter((file) => !existsSync(path.join(root, file))),
    [],
  )
})
