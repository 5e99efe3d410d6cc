// Which permissions Deno needs, and its errors without them. The program is the one that scripts/runtimes.js installs.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import anyTest from 'ava'
import { failureOf, Install } from '../support/load.mjs'
import { diskFolder } from '../support/processes.mjs'

const require = createRequire(import.meta.url)
const { programOf } = require('../../scripts/runtimes.js')

/** Deno's program, which is installed if it is missing. */
function findDeno() {
  try {
    return programOf('deno')
  } catch (error) {
    if (process.env.FLAKEFORGE_REQUIRE_SERVERS === '1') throw error
    console.warn(`\n!!! SKIPPED: Deno cannot be installed: ${error.message} !!!\n`)
  }
}

const deno = findDeno()
const test = deno === undefined ? anyTest.skip : anyTest

const PROGRAM = `import FlakeId from 'flakeforge'; console.log(new FlakeId().next().length)`

function run(t, flags, source = PROGRAM) {
  const install = new Install(t)
  const program = path.join(install.folder, 'program.mjs')
  fs.writeFileSync(program, source)
  const env = { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', DENO_DIR: path.join(install.folder, 'deno') }
  return install.run(deno, ['run', '--no-prompt', ...flags, program], env)
}

for (const flags of [[], ['--allow-read'], ['--allow-read', '--allow-env']]) {
  test(`Deno with ${flags.join(' ') || 'no flags'} names the flags it needs`, async (t) => {
    const { exit, message } = failureOf(await run(t, flags))
    t.not(exit, 0)
    t.regex(
      message,
      /could not load its native addon\. Deno does not allow it .*Run `deno run --allow-ffi --allow-read --allow-env`/,
    )
    t.notRegex(message, /npm|install/)
  })
}

for (const flags of [
  ['--allow-ffi', '--allow-read', '--allow-env'],
  ['--allow-ffi', '--allow-env'], // a denied look means that the file does not exist
]) {
  test(`Deno with ${flags.join(' ')} generates IDs`, async (t) => {
    const { code, stdout, stderr } = await run(t, flags)
    t.deepEqual([code, stdout], [0, '8\n'], stderr)
  })
}

const NEEDED = ['--allow-ffi', '--allow-read', '--allow-env']
const joining = (folder, options) => `import FlakeId from 'flakeforge'
const flake = await FlakeId.join(${JSON.stringify(`file:${folder}`)}, ${options})
console.log(flake.next().length)
await flake.close()`

test('join() with a folder needs the host name, or the option host', async (t) => {
  const folder = diskFolder(t)
  const refused = await run(t, NEEDED, joining(folder, '{}'))
  t.not(refused.code, 0)
  t.regex(refused.stderr, /--allow-sys/)
  for (const [flags, options] of [
    [['--allow-sys=hostname'], '{}'],
    [[], "{ host: 'here' }"],
  ])
    t.is((await run(t, [...NEEDED, ...flags], joining(folder, options))).stdout, '8\n')
})
