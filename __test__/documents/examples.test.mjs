// The scripts of examples/ run, and the table of systems in docs/reference/layouts.md is the output of one of them.

import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { DIALECTS } from '../support/dialects.mjs'
import { FlakeId } from '../support/index.mjs'

const pathOf = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
// A place for join(), which refuses to choose one in a container.
const store = mkdtempSync(join(tmpdir(), 'flakeforge-examples-'))
test.after.always(() => rmSync(store, { recursive: true }))
const env = { ...process.env, FLAKEFORGE_STORE: `file:${store}` }
const run = (script, ...args) => promisify(execFile)(process.execPath, [pathOf(`examples/${script}`), ...args], { env })
const scripts = readdirSync(pathOf('examples')).filter((name) => name.endsWith('.js'))

test('there are examples', (t) => t.true(scripts.includes('systems.js')))

for (const script of scripts) {
  test(`examples/${script} runs`, async (t) => {
    const { stdout, stderr } = await run(script)
    t.true(stdout.length > 0)
    t.is(stderr, '')
  })
}

test('cluster.js: four processes, four node numbers, no duplicate', async (t) => {
  const { stdout } = await run('cluster.js')
  t.is(new Set(stdout.match(/node number \d+/g)).size, 4, stdout)
  t.regex(stdout, /^400000 IDs, 0 duplicates$/m)
})

/** The cells of a Markdown table, without its first two rows. */
const rowsOf = (table) =>
  table
    .trim()
    .split('\n')
    .slice(2)
    .map((row) => row.slice(2, -2).split(' | '))

test('systems.js: each fresh ID is of the system and the node that its code names', async (t) => {
  const { stdout } = await run('systems.js', '--fresh')
  const rows = rowsOf(stdout)
  for (const { name } of DIALECTS.slice(1)) // the default is not named
    t.true(
      rows.some(([, code]) => code.includes(`layout: '${name}'`)),
      `${name} has no row`,
    )
  for (const [system, code, , , fresh] of rows) {
    const flake = new Function('FlakeId', `return ${code.slice(1, -1)}`)(FlakeId)
    const { id, date } = flake.decode(fresh.slice(1, -1))
    t.is(id, flake.id, system)
    t.true(Math.abs(Date.now() - date.getTime()) < 3_600_000, system)
  }
})

test("systems.js: the known IDs' nodes are those of the code", async (t) => {
  for (const [system, code, known] of rowsOf((await run('systems.js')).stdout)) {
    const flake = new Function('FlakeId', `return ${code.slice(1, -1)}`)(FlakeId)
    t.is(flake.decode(known.slice(1, -1)).id, flake.id, system)
  }
})

test('the page about layouts has the table that systems.js prints', async (t) => {
  const [, table] =
    /<!-- systems -->\n+([\s\S]*?)\n+<!-- \/systems -->/.exec(
      readFileSync(pathOf('docs/reference/layouts.md'), 'utf8'),
    ) ?? []
  t.is(table, (await run('systems.js')).stdout.trimEnd())
})
