import { execFileSync } from 'node:child_process'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { freshFolder, stopAfter, until } from '../servers/server.mjs'
import { isWindows } from '../support/processes.mjs'
import { arrived, asker, rawConnection } from '../support/service.mjs'

const [OLD, NEW, OTHER] = ['old-token-0123456789', 'new-token-0123456789', 'other.token~of+16/chars==']
const SECRET = 'a-path-that-nobody-may-log'

let folder
let tokenFile
let server
let ask

test.before(async () => {
  folder = await freshFolder('tokens')
  tokenFile = join(folder, 'tokens')
  await writeFile(tokenFile, `# ours\n${OLD}\n${OTHER}\n`, { mode: 0o600 })
  server = await startServer({ args: ['--token-file', tokenFile, '--log', 'requests', '--host', '127.0.0.1'] })
  ask = await asker(server.url, { token: OTHER })
})

test.after.always(async () => {
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

const withHeader = (authorization) => ({
  headers: authorization === undefined ? { authorization: '' } : { authorization },
})

test.serial('without a token only health is public', async (t) => {
  const open = async (path) => (await fetch(server.url + path)).status
  t.deepEqual(await Promise.all(['/livez', '/readyz'].map(open)), [200, 200])
  for (const path of ['metrics', 'openapi.json', 'v1/names', 'v1/slots/default', 'v1/inspect/1', 'nothing', 'v1/ids/x'])
    t.is(await open(`/${path}`), 401, path)
  const { status, body, headers } = await ask(t, 'POST', '/v1/ids/default', withHeader(undefined))
  t.deepEqual([status, body.code, headers.get('www-authenticate')], [401, 'ERR_FLAKE_TOKEN', 'Bearer'])
})

test.serial('/openapi.json says that a token is needed, and where it is not', async (t) => {
  const { body } = await ask(t, 'GET', '/openapi.json')
  t.deepEqual(Object.keys(body.components.securitySchemes), ['token'])
  t.deepEqual(body.security, [{ token: [] }])
  for (const [path, methods] of Object.entries(body.paths)) {
    const [[method, { security = body.security }]] = Object.entries(methods)
    const { status } = await fetch(server.url + path.replace('{name}', 'default').replace('{id}', '1'), { method })
    t.is(status === 401, security.length > 0, path)
  }
})

test.serial('a token is read from the header only, and only as a whole', async (t) => {
  const status = async (authorization, path = '/v1/ids/default') =>
    (await ask(t, 'POST', path, withHeader(authorization))).status
  for (const token of [OLD, OTHER]) t.is(await status(`Bearer ${token}`), 200)
  t.is(await status(`bearer ${OLD}`), 200, 'schemes are case-insensitive')
  const tokens = [`${OLD}x`, OLD.slice(0, -1), OLD.toUpperCase(), '']
  for (const wrong of [OLD, 'Bearer', ...tokens.map((token) => `Bearer ${token}`)])
    t.is(await status(wrong), 401, wrong)
  t.is(await status(`Basic ${Buffer.from(`u:${OLD}`).toString('base64')}`), 401)
  t.is(await status(undefined, `/v1/ids/default?token=${OLD}`), 401)
  t.is(await status(undefined, `/v1/ids/default?access_token=${OLD}`), 401)
  t.is(await status('Bearer # ours'), 401)
})

const onUnix = isWindows ? test.serial.skip : test.serial

onUnix('SIGHUP reads the file again; an invalid file changes nothing, and is reported', async (t) => {
  const status = async (token) => (await ask(t, 'POST', '/v1/ids/default', withHeader(`Bearer ${token}`))).status
  const reload = async (text, pattern) => {
    await writeFile(tokenFile, text)
    const from = server.warnings.length
    server.child.kill('SIGHUP')
    return server.told(pattern, from)
  }
  await reload(`${NEW}\n${OTHER}\n`, /SIGHUP: reloaded the files/)
  t.deepEqual([await status(OLD), await status(NEW)], [401, 200])
  const told = await reload('short\n', /SIGHUP: .*line 1: a token has 16 characters or more/)
  t.regex(told, /The previous files stay in use/)
  t.deepEqual([await status(OLD), await status(NEW)], [401, 200])
  await reload('\n', /has no token/)
  t.is(await status(NEW), 200)
  const half = OTHER.slice(0, 20)
  await reload(`${NEW}\n${half}`, /SIGHUP: The last line of the token file .* may be half written/)
  t.deepEqual([await status(half), await status(OTHER)], [401, 200])
  await chmod(tokenFile, 0o644)
  await reload(`${OLD}\n`, /SIGHUP: .* is open to other users: its mode is 0644/)
  t.deepEqual([await status(OLD), await status(NEW)], [401, 200])
  await rm(tokenFile)
  execFileSync('mkfifo', ['-m', '600', tokenFile])
  const from = server.warnings.length
  server.child.kill('SIGHUP')
  await server.told(/is not a regular file/, from)
  t.is(await status(NEW), 200)
})

test.serial('a line of the log has method, route, status and time, and nothing else of a request', async (t) => {
  await fetch(`${server.url}/v1/names`) // its line comes after those of the other tests
  await until(() => /GET \/v1\/names 401/.test(server.warnings.at(-1)))
  const from = server.warnings.length
  const headers = { authorization: `Bearer ${OTHER}`, 'user-agent': SECRET, cookie: SECRET, 'x-forwarded-for': SECRET }
  await fetch(`${server.url}/v1/ids/${SECRET}?n=${SECRET}`, { method: 'POST', headers })
  await fetch(`${server.url}/${SECRET}?${SECRET}`, { headers })
  await fetch(`${server.url}/v1/ids/default`, { method: 'POST', headers })
  const raw = rawConnection(server.port)
  raw.send(`${SECRET}\r\n\r\n`)
  await raw.closed
  await fetch(`${server.url}/livez`)
  const lines = () => server.warnings.slice(from).filter((line) => /^\d{4}-/.test(line))
  await until(() => lines().length >= 4)
  t.deepEqual(
    lines().map((line) => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /, '').replace(/ [\d.]+ ms$/, ' MS')),
    ['POST /v1/ids/:name 404 MS', 'GET (none) 404 MS', 'POST /v1/ids/:name 200 MS', 'GET /livez 200 MS'],
  )
  const all = server.warnings.join('\n')
  for (const secret of [SECRET, OLD, NEW, OTHER, '127.0.0.1']) t.false(all.includes(secret), secret)
})

test.serial('guesses of a token count as requests do', async (t) => {
  const file = join(folder, 'strict')
  await writeFile(file, OLD, { mode: 0o600 })
  const strict = stopAfter(t, await startServer({ args: ['--token-file', file, '--rate', '20'] }))
  const raw = rawConnection(strict.port)
  const guess = (i) =>
    `GET /v1/names HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer guess-number-${i}-000\r\n\r\n`
  raw.send(Array.from({ length: 500 }, (_, i) => guess(i)).join('')) // in less than 25 s
  t.truthy(await arrived(raw, /HTTP\/1\.1 429 [^{]*\{[^}]*"ERR_FLAKE_RATE"/))
  raw.socket.destroy()
})
