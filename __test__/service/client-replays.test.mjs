// examples/clients behind intermediaries that repeat answers of real servers: no client hands out an ID twice, and each
// says what to repair. A similar but correct setup, two servers behind one address, is served.

import { spawn } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { startIntermediary } from '../servers/intermediary.mjs'
import { freshFolder } from '../servers/server.mjs'
import { outputOf } from '../support/index.mjs'
import { testInTurn } from '../support/turns.mjs'
import { isThere, LANGUAGES, pathOf } from './languages.mjs'

const NAMES = { orders: {}, spread: { layout: 'uniqueid' }, invoices: { segment: 'invoices', block: 500 } }
/** How answers come twice, by name. */
const REPLAYS = [
  ['orders', 'caches'],
  ['orders', 'renames'],
  ['orders', 'overlaps'],
  ['spread', 'renames'],
  ['invoices', 'overlaps'],
]

let folder
let servers

test.before(async () => {
  folder = await freshFolder('client-replays')
  const config = join(folder, 'names.json')
  await writeFile(config, JSON.stringify({ store: `file:${folder}/store`, names: NAMES }))
  servers = await Promise.all([1, 2].map(() => startServer({ args: ['--config', config] })))
})
test.after.always(async () => {
  await Promise.all((servers ?? []).map((server) => server.stop()))
  await rm(folder, { recursive: true, force: true })
})

let runs = 0
async function run([command, ...args], env) {
  const { http_proxy, HTTP_PROXY, ALL_PROXY, all_proxy, ...rest } = process.env
  const own = { FLAKEFORGE_SEEN: join(folder, `seen-${++runs}`), FLAKEFORGE_WAIT: '3', ...env }
  const { code, stdout, stderr } = await outputOf(spawn(command, args.map(String), { env: { ...rest, ...own } }))
  return { code, stderr, ids: stdout.split('\n').slice(0, -1) }
}

for (const language of LANGUAGES) {
  const inTurn = testInTurn(isThere(language) ? test : test.skip, 1)
  let command
  const needsCommand = async () => {
    command ??= await language.prepare(folder)
  }

  for (const [name, how] of REPLAYS) {
    inTurn(`${language.name}: an intermediary that ${how} answers of '${name}' gives no ID twice`, async (t) => {
      await needsCommand()
      const proxy = await startIntermediary(t, [servers[0].url], how)
      const { code, stderr, ids } = await run(command('many', name, 4000, [proxy.url]))
      t.true(proxy.repeated > 0)
      t.is(new Set(ids).size, ids.length)
      if (how === 'overlaps') return t.is(ids.length, 4000, stderr) // the next answer is complete
      t.not(code, 0)
      t.true(ids.length < 4000)
      t.regex(stderr, /ERR_FLAKE_REPLAY/)
      t.regex(stderr, /not to cache POST, and to pass on the header flakeforge-nonce/)
    })
  }

  inTurn(`${language.name}: next to it, another server is used`, async (t) => {
    await needsCommand()
    const proxy = await startIntermediary(t, [servers[0].url], 'caches')
    const { code, stderr, ids } = await run(command('many', 'orders', 8000, [proxy.url, servers[1].url]))
    t.is(code, 0, stderr)
    t.is(new Set(ids).size, 8000)
  })

  inTurn(`${language.name}: two servers behind one address are served`, async (t) => {
    await needsCommand()
    const proxy = await startIntermediary(
      t,
      servers.map(({ url }) => url),
      'passes',
    )
    for (const name of Object.keys(NAMES)) {
      const { code, stderr, ids } = await run(command('many', name, 4000, [proxy.url]))
      t.is(code, 0, stderr)
      t.is(stderr, '')
      t.is(new Set(ids).size, 4000)
    }
  })
}

const withPython = isThere(LANGUAGES[0]) ? test : test.skip

withPython('python: answers of concurrent requests may come in any order', async (t) => {
  const program = `
import sys, threading
sys.path.insert(0, sys.argv[2])
import flakeforge_ids
post, first, second = flakeforge_ids.post, threading.Event(), threading.Event()
def late(*args, **how):
    answer = post(*args, **how)
    if args[2] == 7:  # its IDs are here, and come after those of the other request
        first.set()
        second.wait()
    return answer
flakeforge_ids.post = late
ids = flakeforge_ids.FlakeForgeIds([sys.argv[1]], "orders", timeout=60)
got = []
thread = threading.Thread(target=lambda: got.extend(ids.fetch(7)))
thread.start()
first.wait()
got.extend(ids.fetch(9))
second.set()
thread.join()
print(len(set(got)), got[0] > got[-1])
`
  const { code, stderr, ids } = await run(['python3', '-B', '-c', program, servers[0].url, pathOf('python')])
  t.is(code, 0, stderr)
  t.deepEqual(ids, ['16 True'])
})
