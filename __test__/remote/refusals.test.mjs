// A permanent refusal of a flakeforge-server is an error at once, with the server's code and message. No error and no
// address shows a token.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { freshFolder } from '../servers/server.mjs'
import { connect, connectToFirst, giveIds, problem, startScripted, turns } from './scripted-server.mjs'

const TOKEN = 'the-token-of-this-server'
let server

test.before(async () => {
  const folder = await freshFolder('tokens')
  const file = join(folder, 'tokens')
  writeFileSync(file, `${TOKEN}\n`, { mode: 0o600 })
  server = await startServer({ args: ['--name', 'orders', '--token-file', file] })
})
test.after.always(() => server?.stop())

/** All parts of an error that a program may log. */
const logged = (error) => `${error.stack}${inspect(error, { showHidden: true, depth: 9 })}${JSON.stringify(error)}`

test('the right token gets IDs', async (t) => {
  const remote = await connect(t, server, { token: TOKEN })
  t.is(remote.take(100).length, 800)
})

test("a wrong token, a missing one, and an unknown name fail at once, with the server's message", async (t) => {
  const other = await startScripted(t)
  for (const [options, code, status] of [
    [{ token: 'not-the-token-of-this-server' }, 'ERR_FLAKE_TOKEN', 401],
    [{}, 'ERR_FLAKE_TOKEN', 401],
    [{ token: TOKEN, name: 'ordres' }, 'ERR_FLAKE_NAME', 404],
  ]) {
    const error = await t.throwsAsync(connect(t, server, options), { instanceOf: Error, code })
    t.like(error, { status, server: new URL(server.url).href })
    t.true(error.message.startsWith(`${new URL(server.url).href}: answered ${status} (${code}): `), error.message)
    t.false(logged(error).includes(TOKEN))
  }
  t.deepEqual(other.counts, [])
})

for (const [how, options] of [
  ['', undefined],
  [', with a signal', { signal: new AbortController().signal }],
]) {
  test(`a refused request is not tried elsewhere, ends all waiting calls${how}, and is reported to those that cannot wait`, async (t) => {
    const [first, second] = await Promise.all([startScripted(t), startScripted(t)])
    const remote = await connectToFirst(t, [first, second], { prefetch: 2 })
    const asked = second.counts.length
    first.script = problem(401, { code: 'ERR_FLAKE_TOKEN', detail: 'The token is not one of ours.' })
    const calls = [remote.takeAsync(3, options), remote.nextAsync(options), remote.takeAsync(20_000, options)]
    const refused = {
      code: 'ERR_FLAKE_TOKEN',
      message: /answered 401 \(ERR_FLAKE_TOKEN\): The token is not one of ours\.$/,
    }
    for (const call of calls) await t.throwsAsync(call, refused)
    t.is(first.counts.length, 2, 'one request for all of them')
    t.is(second.counts.length, asked)
    t.throws(() => remote.next(), refused)
    first.script = giveIds
    t.is((await remote.nextAsync()).length, 8, 'later calls ask again')
    t.is(second.counts.length, asked)
  })
}

test('a refused refill leaves the available IDs', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { prefetch: 10 })
  server.script = problem(404, { code: 'ERR_FLAKE_NAME', detail: 'No such name.' })
  remote.take(5)
  await server.asked(2)
  await turns(() => true)
  t.is(remote.take(5).length, 40)
  await t.throwsAsync(remote.nextAsync(), { code: 'ERR_FLAKE_NAME' })
})

test('a server that sends the token back does not get it into an error', async (t) => {
  const token = 'a-token-that-is-secret'
  const server = await startScripted(t)
  const echo = (status, code) => (request, response) =>
    problem(status, { code, detail: `You sent ${request.headers.authorization}.` })(request, response)
  for (const [status, code] of [
    [401, 'ERR_FLAKE_TOKEN'],
    [500, undefined],
  ]) {
    server.script = echo(status, code)
    const error = await t.throwsAsync(connect(t, server, { token, waitMs: 0 }))
    t.regex(error.message, /You sent Bearer …/)
    t.false(logged(error).includes(token))
  }
  const fetch = async (_url, { headers }) => {
    throw Object.assign(new Error(`cannot send ${JSON.stringify(headers)}`), { headers })
  }
  const error = await t.throwsAsync(connect(t, server, { token, waitMs: 0, fetch }), { code: 'ERR_FLAKE_REMOTE' })
  t.regex(error.message, /could not be reached \(cannot send .*"authorization":…/)
  t.false(logged(error).includes(token))
})
