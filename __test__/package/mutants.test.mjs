// The mistakes of `npm run mutants -- model` can be made: each replaces text that is in the core.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'

const core = path.join(import.meta.dirname, '..', '..', 'core')
const mutants = createRequire(import.meta.url)(path.join(core, 'tests', 'model', 'mutants.js'))

test('the replaced text of each edit of the core occurs once', (t) => {
  const edits = mutants.flatMap(({ name, edits }) => edits.map(([file, from]) => ({ name, file, from })))
  const count = ({ file, from }) => readFileSync(path.join(core, 'src', file), 'utf8').split(from).length - 1
  t.deepEqual(
    edits.filter((edit) => count(edit) !== 1).map(({ name }) => name),
    [],
  )
  t.is(mutants.length, 10)
})
