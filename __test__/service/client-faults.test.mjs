// examples/clients against servers that do what no flakeforge-server does on purpose: they stall, show another group,
// or send something other than IDs. No client hangs, and none hands out IDs of two groups. The tests of a language run
// one after the other, and the languages in parallel.

import { spawn } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import test from 'ava'
import { cut, idsIn, makeIds, problem, startScripted } from '../remote/scripted-server.mjs'
import { freshFolder } from '../servers/server.mjs'
import { outputOf } from '../support/index.mjs'
import { testInTurn } from '../support/turns.mjs'
import { isThere, LANGUAGES, pathOf } from './languages.mjs'

const ORDERS = { 'flakeforge-layout': 'flake', 'flakeforge-group': '00000000000000a1' }
const AGAIN = { ...ORDERS, 'flakeforge-group': '00000000000000a2' }
const OTHER_LAYOUT = { ...ORDERS, 'flakeforge-layout': 'twitter' }

let folder
test.before(async () => {
  folder = await freshFolder('client-faults')
})
test.after.always(() => rm(folder, { recursive: true, force: true }))

let runs = 0
function start([command, ...args], env) {
  const { http_proxy, HTTP_PROXY, ALL_PROXY, all_proxy, ...rest } = process.env
  const own = { FLAKEFORGE_SEEN: join(folder, `seen-${++runs}`), ...env }
  return spawn(command, args.map(String), { env: { ...rest, ...own } })
}
const outcome = (command, env) => outputOf(start(command, env))
const linesIn = (text) => text.split('\n').slice(0, -1)

/** Gives IDs in the requested form, and reports which. */
const of =
  (headers, given = new Set()) =>
  (request, response, n) => {
    const bytes = makeIds(n)
    const ids = idsIn(bytes).map(String)
    for (const id of ids) given.add(id)
    const isText = request.headers.accept === 'text/plain'
    response.writeHead(200, {
      ...headers,
      'content-type': isText ? 'text/plain; charset=utf-8' : 'application/octet-stream',
    })
    response.end(isText ? `${ids.join('\n')}\n` : bytes)
  }

/** First the one answer, and then the other. */
const once = (first, then) => {
  let isFirst = true
  return (...args) => {
    const script = isFirst ? first : then
    isFirst = false
    return script(...args)
  }
}

/** Asks for an hour. */
const busy = problem(503, { code: 'ERR_FLAKE_QUIET', detail: 'Not yet.' }, { 'retry-after': '3600' })

/** Sends `first`, and then `more` now and then. */
const dribble = (t, everyMs, more, first) => (_request, response, n) => {
  response.socket.write(
    `HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-length: ${n * 8}\r\n${first}`,
  )
  const timer = setInterval(() => response.socket.write(more), everyMs)
  response.once('close', () => clearInterval(timer))
  t.teardown(() => clearInterval(timer))
}

/** Tests of the available languages, by their names. */
const testOf = Object.fromEntries(
  LANGUAGES.map((language) => {
    const run = testInTurn(isThere(language) ? test : test.skip, 1)
    return [language.name, (title, work) => run(`${language.name}: ${title}`, work)]
  }),
)

for (const language of LANGUAGES) {
  const test = testOf[language.name]
  let command
  const needsCommand = async () => {
    command ??= await language.prepare(folder)
  }
  const both = async (t, scripts) => {
    await needsCommand()
    return Promise.all(scripts.map((script) => startScripted(t, script)))
  }

  for (const [what, theirs] of [
    ['layout', OTHER_LAYOUT],
    ['group', AGAIN],
  ]) {
    test(`another ${what} is an error that names both servers, and no ID of it is printed`, async (t) => {
      const given = [new Set(), new Set()]
      const servers = await both(t, [of(ORDERS, given[0]), of(theirs, given[1])])
      // Whichever it starts with, that one fails once, and then answers.
      for (const [i, server] of servers.entries()) {
        const { script } = server
        server.script = (...args) => {
          const isFirst = server.counts.length === 1
          if (server.counts.length === 2 && servers[1 - i].counts.length === 0) return cut(...args)
          return (isFirst || server.counts.length > 2 || servers[1 - i].counts.length > 0) && script(...args)
        }
      }
      const urls = servers.map(({ url }) => url)
      const { code, stdout, stderr } = await outcome(command('many', 'orders', 20_000, urls))
      t.not(code, 0)
      t.regex(stderr, /ERR_FLAKE_CONFIG_MISMATCH/)
      for (const url of urls) t.true(stderr.includes(url), stderr)
      const used = linesIn(stdout)
      t.true(used.every((id) => given[0].has(id)) || used.every((id) => given[1].has(id)))
    })
  }

  test(`a recreated group is accepted once all servers show it`, async (t) => {
    const given = [new Set(), new Set()]
    const servers = await both(t, [of(ORDERS, given[0]), of(ORDERS, given[0])])
    for (const server of servers) {
      server.script = (...args) => {
        if (servers[0].counts.length + servers[1].counts.length > 10)
          for (const each of servers) each.script = of(AGAIN, given[1])
        of(ORDERS, given[0])(...args)
      }
    }
    const urls = servers.map(({ url }) => url)
    const { code, stdout, stderr } = await outcome(command('many', 'orders', 20_000, urls))
    t.is(code, 0, stderr)
    const used = linesIn(stdout)
    t.is(new Set(used).size, 20_000)
    t.true(used.some((id) => given[0].has(id)) && used.some((id) => given[1].has(id)))
  })

  test(`a recreated group is not accepted while the server of the last IDs does not answer`, async (t) => {
    const given = new Set()
    const [first, second] = await both(t, [of(ORDERS), of(AGAIN, given)])
    first.script = once(of(ORDERS), cut)
    second.script = (...args) => (first.counts.length === 0 ? cut : of(AGAIN, given))(...args)
    const env = { FLAKEFORGE_WAIT: '2' }
    const { code, stdout, stderr } = await outcome(command('many', 'orders', 20_000, [first.url, second.url]), env)
    t.not(code, 0)
    t.regex(stderr, /ERR_FLAKE_CONFIG_MISMATCH/)
    t.regex(stderr, /does not answer/)
    t.true(linesIn(stdout).every((id) => !given.has(id)))
  })

  for (const [what, script] of [
    ['stalls after its headers', (t) => dribble(t, 1e6, '', '\r\n')],
    ['dribbles its answer', (t) => dribble(t, 300, '\0', '\r\n')],
    ['dribbles its headers', (t) => dribble(t, 300, 'x-more: 1\r\n', '')],
  ]) {
    test(`a server that ${what} costs one time limit`, async (t) => {
      const [bad, good] = await both(t, [script(t), of(ORDERS)])
      good.script = (...args) => (bad.counts.length === 0 ? cut : of(ORDERS))(...args)
      const { code, stdout, stderr } = await outcome(command('bytes', 'orders', 5, [bad.url, good.url]))
      t.is(code, 0, stderr)
      t.is(linesIn(stdout).length, 5)
      t.true(bad.counts.length >= 1)
    })
  }

  for (const nonce of [undefined, '0'.repeat(32)]) {
    const what = nonce === undefined ? 'without a nonce' : 'with the nonce of another request'
    test(`an answer ${what} is not used`, async (t) => {
      const given = new Set()
      const foreign = (request, response, n) => {
        response.removeHeader('flakeforge-nonce')
        if (nonce !== undefined) response.setHeader('flakeforge-nonce', nonce)
        of(ORDERS, given)(request, response, n)
      }
      const [bad, good] = await both(t, [foreign, of(ORDERS)])
      good.script = (...args) => (bad.counts.length === 0 ? cut : of(ORDERS))(...args)
      const { code, stdout, stderr } = await outcome(command('bytes', 'orders', 5, [bad.url, good.url]))
      t.is(code, 0, stderr)
      t.is(linesIn(stdout).length, 5)
      t.true(given.size > 0 && linesIn(stdout).every((id) => !given.has(id)))
    })
  }

  test(`a server that asks for an hour does not make it give up on the other`, async (t) => {
    const [asks, back] = await both(t, [busy, once(cut, of(ORDERS))])
    const { code, stdout, stderr } = await outcome(command('bytes', 'orders', 5, [asks.url, back.url]))
    t.is(code, 0, stderr)
    t.is(linesIn(stdout).length, 5)
  })

  test(`it starts with any of the servers`, async (t) => {
    const servers = await both(t, [of(ORDERS), of(ORDERS)])
    const urls = servers.map(({ url }) => url)
    for (let runs = 0; servers.some(({ counts }) => counts.length === 0); runs++) {
      t.true(runs < 40, 'by chance once in 10^12 runs')
      t.is((await outcome(command('bytes', 'orders', 1, urls))).code, 0)
    }
  })
}

for (const [what, type, body] of [
  ['a page with three lines of digits', 'text/html', '1\n2\n3\n'],
  ['a page that claims to be text', 'text/plain', 'Please log in to this network\n'],
  ['too few lines', 'text/plain', '1\n2\n'],
  ['too many lines', 'text/plain', '1\n2\n3\n4\n'],
  ['a part of a line', 'text/plain', '1\n2\n3'],
  ['an empty line', 'text/plain', '1\n\n3\n'],
  ['a number of 21 digits', 'text/plain', '1\n2\n333333333333333333333\n'],
]) {
  testOf.curl(`${what} is not printed as IDs`, async (t) => {
    const bad = await startScripted(t, (_request, response) =>
      response.writeHead(200, { 'content-type': type }).end(body),
    )
    const env = { FLAKEFORGE_WAIT: '0' }
    const { code, stdout, stderr } = await outcome(['sh', pathOf('curl', 'ids.sh'), 'orders', 3, bad.url], env)
    t.is(code, 1)
    t.is(stdout, '')
    t.regex(stderr, /no server gave IDs/)
  })
}

testOf.curl('what it has seen is kept for the next run', async (t) => {
  const servers = await Promise.all([startScripted(t, of(ORDERS)), startScripted(t, of(OTHER_LAYOUT))])
  const env = { FLAKEFORGE_SEEN: join(folder, 'kept', 'seen') }
  const run = (url) => outcome(['sh', pathOf('curl', 'ids.sh'), 'orders', 3, url], env)
  t.is((await run(servers[0].url)).code, 0)
  const { code, stdout, stderr } = await run(servers[1].url)
  t.is(code, 1)
  t.is(stdout, '')
  t.true(
    servers.every(({ url }) => stderr.includes(url)),
    stderr,
  )
  t.is((await run(servers[0].url)).code, 0)
})

testOf.python('the remaining IDs of a group are dropped when it was recreated', async (t) => {
  const server = await startScripted(t, of(ORDERS))
  server.script = once(of(ORDERS), of(AGAIN))
  const program = `
import sys, time
sys.path.insert(0, sys.argv[2])
from flakeforge_ids import FlakeForgeIds
ids = FlakeForgeIds([sys.argv[1]], "orders", prefetch=10)
first = [ids.next()]
while ids._known.group == "00000000000000a1":  # 9 are left; half of them are used up before more are fetched
    if len(ids._ids) > 5: first.append(ids.next())
    ids.fetch(1)
print(max(first), ids.next())
`
  const { code, stdout, stderr } = await outcome(['python3', '-B', '-c', program, server.url, pathOf('python')])
  t.is(code, 0, stderr)
  const [last, next] = stdout.split(' ').map(BigInt)
  t.true(next > last + 1n, `${last} and ${next}`)
})

testOf.python('the end of the process does not wait for a refill that hangs', async (t) => {
  const server = await startScripted(t, of(ORDERS))
  const program = `
import sys
sys.path.insert(0, sys.argv[2])
from flakeforge_ids import FlakeForgeIds
ids = FlakeForgeIds([sys.argv[1]], "orders", timeout=3600, wait=3600)
for i in range(60):
    ids.next()
sys.stdin.read()
`
  const child = start(['python3', '-B', '-c', program, server.url, pathOf('python')])
  const output = outputOf(child)
  server.script = once(of(ORDERS), () => child.stdin.end())
  const { code, stderr } = await output
  t.is(code, 0, stderr)
})

testOf.python('a server that asked for an hour is asked again earlier', async (t) => {
  const server = await startScripted(t, once(busy, of(ORDERS)))
  const program = `
import sys
sys.path.insert(0, sys.argv[2])
import flakeforge_ids
flakeforge_ids._LONGEST_REST = 0.1
print(flakeforge_ids.FlakeForgeIds([sys.argv[1]], "orders", wait=7200).next())
`
  const { code, stdout, stderr } = await outcome(['python3', '-B', '-c', program, server.url, pathOf('python')])
  t.is(code, 0, stderr)
  t.regex(stdout, /^\d+\n$/)
})

testOf.curl('a server that asked for an hour is asked again after 30 s', async (t) => {
  const server = await startScripted(t, once(busy, of(ORDERS)))
  const programs = join(folder, 'quick') // with a sleep that prints its duration, and does not sleep
  await mkdir(programs)
  await writeFile(join(programs, 'sleep'), '#!/bin/sh\necho "$@" >>"$SLEPT"\n', { mode: 0o755 })
  const env = {
    PATH: `${programs}${delimiter}${process.env.PATH}`,
    SLEPT: join(programs, 'slept'),
    FLAKEFORGE_WAIT: '7200',
  }
  const { code, stdout, stderr } = await outcome(['sh', pathOf('curl', 'ids.sh'), 'orders', 1, server.url], env)
  t.is(code, 0, stderr)
  t.regex(stdout, /^\d+\n$/)
  t.is(await readFile(env.SLEPT, 'utf8'), '30\n')
})
