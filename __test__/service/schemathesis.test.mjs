// Schemathesis reads the server's /openapi.json, generates valid and invalid requests from it, and finds nothing.
// FLAKEFORGE_SCHEMATHESIS_EXAMPLES is the number for each route: few here, many in the weekly workflow.

import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { startServer } from '../servers/flakeforge.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const EXAMPLES = process.env.FLAKEFORGE_SCHEMATHESIS_EXAMPLES ?? '15'

/** The folder with schemathesis; undefined, with a loud message, where it is not installed and not required. */
function wantTools() {
  const script = join(root, 'scripts/python-tools.sh')
  const isNeeded = process.env.FLAKEFORGE_REQUIRE_SERVERS === '1'
  if (isNeeded || existsSync(join(root, 'target/schemathesis/installed.txt')))
    return execFileSync(script, ['schemathesis'], { encoding: 'utf8' }).trim()
  const how = "scripts/python-tools.sh schemathesis installs it; the server's API is not tried by it"
  console.warn(`\n!!! SKIPPED: schemathesis is not installed: ${how} !!!\n`)
}

const tools = wantTools()
const test = tools === undefined ? anyTest.skip : anyTest

/** The documents of the API, with a group and a segment to try. */
const NAMES = { orders: { group: 'orders' }, invoices: { segment: 'invoices', block: 10_000 } }

/**
 * A pattern describes an ID, but not which layout it fits: 2^64, and an ID with a bit that must be 0, are rejected.
 * Everything else that the document allows must be accepted, which is schemathesis' own list without the 400.
 */
const CONFIG = `
[[operations]]
include-path = "/v1/inspect/{id}"
checks.positive_data_acceptance.expected-statuses = ["2xx", "3xx", 400, 401, 403, 404, 409, 429, "5xx"]
`

const TOKEN = 'a-token-of-this-test'

/** The output of schemathesis for a server. It keeps the examples that it found in the folder where it runs. */
async function findings(url, folder) {
  const args = [
    `${url}/openapi.json`,
    '--header',
    `Authorization: Bearer ${TOKEN}`,
    '--url',
    url,
    '--checks',
    'all',
    '--mode',
    'all',
    '--max-examples',
    EXAMPLES,
  ]
  try {
    const options = { cwd: folder, env: { ...process.env, NO_COLOR: '1' }, maxBuffer: 1e8 }
    const { stdout } = await promisify(execFile)(join(tools, 'schemathesis'), ['run', ...args], options)
    return { code: 0, stdout }
  } catch ({ code, stdout, stderr }) {
    return { code, stdout: stdout + stderr }
  }
}

test('schemathesis finds nothing, with all its checks', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'flakeforge-schemathesis-'))
  const config = join(folder, 'server.json')
  await writeFile(config, JSON.stringify({ names: NAMES }))
  await writeFile(join(folder, 'schemathesis.toml'), CONFIG)
  const tokens = join(folder, 'tokens')
  await writeFile(tokens, `${TOKEN}\n`, { mode: 0o600 })
  const server = await startServer({ args: ['--config', config, '--token-file', tokens] })
  try {
    const { code, stdout } = await findings(server.url, folder)
    t.is(code, 0, stdout)
    t.regex(stdout, /Tested: +[7-9]/, stdout) // every route
    t.regex(stdout, /(\d{2,}) generated, \1 passed/, stdout)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
})
