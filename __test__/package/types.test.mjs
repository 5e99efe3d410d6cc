// The package's types as TypeScript users meet them: the files in types/ are compiled in each kind of project, and
// those that Node.js can run are run. `node lab/consumers/index.js typescript` does the same with older versions of
// TypeScript.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'
import { compile, makeProject, node, removeProject } from '../support/types.mjs'

const { KINDS, RUN, unexpected, writeProjects } = createRequire(import.meta.url)('../types/kinds.cjs')

let temp

test.before(async () => {
  temp = await makeProject()
})

test.after.always(() => removeProject(temp))

/** A file of types, and the files that it imports from. */
function withOthers(file, found = new Set()) {
  if (found.has(file)) return found
  found.add(file)
  for (const [, other] of readFileSync(file, 'utf8').matchAll(/ from "(\.[^"]*)\.cjs"/g))
    withOthers(path.join(path.dirname(file), `${other}.d.cts`), found)
  return found
}

for (const entry of ['codec', 'remote']) {
  test(`flakeforge/${entry}: its types need none of Node.js`, (t) => {
    const files = [...withOthers(path.join(import.meta.dirname, `../../dist/${entry}.d.cts`))]
    t.true(files.length > 2)
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
