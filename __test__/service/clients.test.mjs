// examples/clients against real servers: each language gets single IDs and batches, reports its name, continues when
// its server is killed or has no IDs, and prints no ID twice.

import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { freePort, freshFolder } from '../servers/server.mjs'
import { blocks } from '../support/documents.mjs'
import { FlakeId, isAscending, outputOf } from '../support/index.mjs'
import { once } from '../support/waits.mjs'
import { isThere, LANGUAGES, pathOf } from './languages.mjs'

const TOKEN = 'a-token-of-this-test'
const MANY = 20_000 // far more than the pipes between a client and this process hold
const layout = new FlakeId()

let folder // removed at the end
let store // of the servers that have IDs
let servers // one without tokens, one with
let away // a server whose store is down
let dead // a URL that nothing listens on

/** A server with IDs; `again()` starts another like it. */
async function startOne(...args) {
  const again = () => startOne(...args)
  return Object.assign(await startServer({ args: ['--store', store, '--name', 'default', ...args] }), { again })
}

test.before(async () => {
  folder = await freshFolder('clients')
  store = `file:${join(folder, 'store')}`
  const tokens = join(folder, 'tokens')
  writeFileSync(tokens, `${TOKEN}\n`, { mode: 0o600 })
  dead = `http://127.0.0.1:${await freePort()}`
  const gone = `redis://127.0.0.1:${await freePort()}`
  ;[away, ...servers] = await Promise.all([
    startServer({ args: ['--store', gone, '--name', 'default'], until: 'listening' }),
    startOne(),
    startOne('--token-file', tokens),
  ])
})
test.after.always(async () => {
  await Promise.all([away, ...(servers ?? [])].map((server) => server?.stop()))
  await rm(folder, { recursive: true, force: true })
})

/** A missing file: what a shell's clients have seen. */
let names = 0
const freshName = () => join(folder, `seen-${++names}`)

/** The process of a client, with its token and no variable that would lead it elsewhere. */
function start([command, ...args], env = {}) {
  const { http_proxy, HTTP_PROXY, ALL_PROXY, all_proxy, ...rest } = process.env
  const own = { FLAKEFORGE_TOKEN: TOKEN, FLAKEFORGE_SEEN: freshName(), ...env }
  return spawn(command, args.map(String), { env: { ...rest, ...own } })
}

async function linesOf(t, command, env) {
  const { code, stdout, stderr } = await outputOf(start(command, env))
  t.is(code, 0, stderr)
  return stdout.trimEnd().split('\n').map(BigInt)
}

/** In front of a server, like a balancer: it has no server at first, and records the requests. */
async function startFront(t, url, refusals) {
  const asked = []
  const front = createServer((request, response) => {
    asked.push({ at: performance.now(), method: request.method, url: request.url, headers: request.headers })
    if (asked.length <= refusals) return response.writeHead(503, { 'Retry-After': '1' }).end('no server')
    const { method, headers } = request
    httpRequest(new URL(request.url, url), { method, headers }, (answer) => {
      answer.pipe(response.writeHead(answer.statusCode, answer.headers))
    }).end()
  }).listen(0, '127.0.0.1')
  t.teardown(() => {
    front.closeAllConnections()
    front.close()
  })
  await once(front, 'listening')
  return { asked, url: `http://127.0.0.1:${front.address().port}` }
}

const nodeOf = (id) => layout.decode(id).id

/** Starts a client of two servers, kills the one it uses while it generates IDs, and starts another one there. */
async function killedMeanwhile(t, command) {
  const child = start(command(servers.map(({ url }) => url)))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (more) => {
    text += more
  })
  const output = outputOf(child)
  await once(child.stdout, 'data')
  child.stdout.pause() // its pipe becomes full, so it cannot finish before the server is gone
  const first = nodeOf(BigInt(text.split('\n')[0]))
  const used = servers.findIndex((server) => server.slot === first)
  t.not(used, -1, `node ${first} is no server's`)
  await servers[used].kill('SIGKILL')
  child.stdout.resume()
  const { code, stderr } = await output
  servers[used] = await servers[used].again()
  t.is(code, 0, stderr)
  return text.trimEnd().split('\n').map(BigInt)
}

/** Which slot each server has, from the header of an answer. */
async function learnSlots() {
  for (const server of servers) {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const answer = await fetch(`${server.url}/v1/ids/default`, { method: 'POST', headers })
    server.slot = Number(answer.headers.get('flakeforge-slot'))
  }
}

for (const language of LANGUAGES.filter(isThere)) {
  const { name } = language
  let command
  const needsCommand = async () => {
    command ??= await language.prepare(folder)
  }

  test.serial(`${name}: one ID, a batch of JSON and one of bytes, with a token`, async (t) => {
    await needsCommand()
    const [, { url }] = servers
    const runs = [
      ['one', 1],
      ['json', 7],
      ['bytes', 500],
    ]
    const ids = []
    for (const [how, n] of runs) {
      const lines = await linesOf(t, command(how, 'default', n, [url]))
      t.is(lines.length, n, how)
      ids.push(...lines)
    }
    t.true(isAscending(ids))
  })

  test.serial(`${name}: an error that no retry can fix comes at once, with the reason`, async (t) => {
    await needsCommand()
    const [{ url }, { url: withToken }] = servers
    const refusals = [
      ['ERR_FLAKE_TOKEN', command('bytes', 'default', 5, [withToken, withToken]), { FLAKEFORGE_TOKEN: `${TOKEN}-not` }],
      ['ERR_FLAKE_NAME', command('bytes', 'nothing', 5, [url])],
      ['ERR_FLAKE_OPTION', command('bytes', 'default', 10_001, [url])],
    ]
    for (const [code, words, env] of refusals) {
      const ended = await outputOf(start(words, env))
      t.not(ended.code, 0, code)
      t.is(ended.stdout, '')
      t.true(ended.stderr.includes(code), ended.stderr)
      t.false(ended.stderr.includes(TOKEN), 'the token is not shown')
    }
  })

  test.serial(
    `${name}: skips a server that is down and one that has no IDs, and waits as Retry-After says`,
    async (t) => {
      await needsCommand()
      const [{ url }] = servers
      t.is((await linesOf(t, command('bytes', 'default', 5, [dead, away.url, url]))).length, 5)
      const front = await startFront(t, url, 2)
      t.is((await linesOf(t, command('one', 'default', 1, [front.url]))).length, 1)
      t.true(front.asked.length >= 3)
      const [first, second, third] = front.asked
      t.true(second.at - first.at > 990 && third.at - second.at > 990, 'a second between two attempts')
      for (const { method, headers, url } of front.asked) {
        t.is(method, 'POST')
        t.is(headers.authorization, `Bearer ${TOKEN}`)
        t.is(url, name === 'curl' ? '/v1/ids/default?n=1' : '/v1/ids/default?n=100')
      }
    },
  )

  test.serial(`${name}: its server is killed, another one takes over, and no ID comes twice`, async (t) => {
    await needsCommand()
    await learnSlots()
    const slots = servers.map(({ slot }) => slot)
    const ids = await killedMeanwhile(t, (urls) => command('many', 'default', MANY, urls))
    t.is(ids.length, MANY)
    t.is(new Set(ids).size, MANY)
    t.deepEqual([...new Set(ids.map(nodeOf))].sort(), slots.sort(), 'both gave IDs')
  })
}

const withPython = isThere(LANGUAGES[0]) ? test.serial : test.serial.skip

withPython('python: a forked child generates none of the IDs that its parent has', async (t) => {
  const program = `
import os, sys
sys.path.insert(0, sys.argv[2])
from flakeforge_ids import FlakeForgeIds
ids = FlakeForgeIds([sys.argv[1]])
first = ids.next()
child = os.fork()
lines = [f"{ids.next()}\\n" for _ in range(150)]
if child != 0:
    lines.append(f"{first}\\n")
os.write(1, "".join(lines).encode()) # at once, or the lines of the two would mix
if child == 0:
    os._exit(0)
sys.exit(os.waitpid(child, 0)[1])
`
  const ids = await linesOf(t, ['python3', '-B', '-c', program, servers[0].url, pathOf('python')])
  t.is(ids.length, 301)
  t.is(new Set(ids).size, 301)
})

/** The code blocks in these languages of a client's README, for a server of these tests. */
const readmeOf = (name, ...languages) =>
  blocks(readFileSync(pathOf(name, 'README.md'), 'utf8'))
    .filter(({ language, code }) => languages.includes(language) && !code.includes('https:')) // client-tls.test.mjs has those
    .map(({ code }) => code.replaceAll('http://127.0.0.1:8080', servers[0].url))

withPython("python: its README's examples print IDs", async (t) => {
  const programs = readmeOf('python', 'python')
  t.is(programs.length, 2)
  for (const program of programs) {
    const preset = `import sys; sys.path.insert(0, ${JSON.stringify(pathOf('python'))})\n`
    const { code, stdout, stderr } = await outputOf(start(['python3', '-B', '-c', preset + program]))
    t.is(code, 0, stderr)
    t.regex(stdout, /^\d{17,20}\n(?:\[\d{17,20}(?:, \d{17,20}){2}\]\n)?$/)
  }
})

test.serial("curl: its README's examples print IDs", async (t) => {
  const [json, text, one, loop] = readmeOf('curl', 'sh')
  const run = async (script) => {
    const env = { ...process.env, FLAKEFORGE_SEEN: freshName() }
    const child = spawn('sh', ['-c', script], { cwd: pathOf('curl'), env })
    return (await outputOf(child)).stdout
  }
  t.regex(await run(json.replaceAll('curl ', 'curl -sS ')), /^\{"name":"default","ids":\["\d+"\]\}$/)
  t.regex(await run(text.replaceAll('curl ', 'curl -sS ')), /^(?:\d+\n){3}$/)
  t.regex(await run(one), /^(?:\d+\n){3}$/)
  const orders = await run(loop.trimEnd().replace(/$/, ' | head -n 2500'))
  t.is(new Set(orders.trimEnd().split('\n')).size, 2500)
})
