// The package's types as TypeScript users meet them: the files in types/ are compiled in each kind of project, and
// those that Node.js can run are run. `node lab/consumers/index.js typescript` does the same with older versions of
// TypeScript.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'
import { compile, makeProject, node, removeProject } from '../support/types.mjs'

const require = createRequire(import.meta.url)
const { KINDS, RUN, unexpected, writeProjects } = require('../types/kinds.cjs')
const { makeDeclarations } = require('../../scripts/declarations.js')
const { TYPES } = require('../../scripts/entries.js')

const root = path.join(import.meta.dirname, '..', '..')

let temp

test.before(async () => {
  temp = await makeProject()
})

test.after.always(() => removeProject(temp))

/** A file of types, and the files that it imports from. */
function withOthers(file, found = new Set()) {
  if (found.has(file)) return found
  found.add(file)
  for (const [, other] of readFileSync(file, 'utf8').matchAll(/ from "(\.[^"]*)\.js"/g))
    withOthers(path.join(path.dirname(file), `${other}.d.ts`), found)
  return found
}

test('the types at the top are those of the sources, so a review shows what changes in them', async (t) => {
  const made = (await makeDeclarations()).filter(({ name }) => !name.includes('/'))
  t.deepEqual(made.map(({ name }) => `${name}.d.ts`).sort(), TYPES.toSorted())
  for (const { name, text } of made)
    t.is(readFileSync(path.join(root, `${name}.d.ts`), 'utf8'), text, `${name}.d.ts: run \`npm run dist\``)
})

for (const entry of ['codec', 'remote']) {
  test(`flakeforge/${entry}: its types need none of Node.js`, (t) => {
    const files = [...withOthers(path.join(root, `${entry}.d.ts`))]
    t.is(files.length, entry === 'remote' ? 2 : 1)
    t.deepEqual(
      files.filter((file) => readFileSync(file, 'utf8').includes('types="node"')),
      [],
    )
  })
}

// TypeScript 7 finds types for CommonJS only as bundlers do, or as Node.js does.
const OPTIONS = { commonjs: { moduleResolution: 'bundler' } }

for (const kind of Object.keys(KINDS)) {
  test(`${kind}: consumers compile, and mistakes do not`, async (t) => {
    const [right, wrong] = writeProjects(path.join(temp, 'projects'), kind, OPTIONS[kind])
    t.deepEqual(await compile(right), { code: 0, output: '' })
    const { code, output } = await compile(wrong)
    t.not(code, 0)
    t.deepEqual(unexpected(output), [], output)
    if (!KINDS[kind].extensions.includes('mts')) return
    for (const name of RUN)
      t.deepEqual(await node([name.replace('ts', 'js')], right), { code: 0, output: `${name} is right\n` })
  })
}
