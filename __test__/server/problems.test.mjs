// What answers say about errors of a store: a client without a token learns neither its roles, addresses and paths nor the words of
// its server; one with a token gets the reason.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import anyTest from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { freePort, stopAfter } from '../servers/server.mjs'
import { isWindows } from '../support/processes.mjs'
import { asker, passingFolder } from '../support/service.mjs'

const TOKEN = 'a-token-for-reasons'
const onUnix = isWindows ? anyTest.skip : anyTest
const withRedis = wantRedis() === undefined ? anyTest.skip : anyTest
const withPostgres = wantPostgres() === undefined ? anyTest.skip : anyTest

/** Every route that can fail because of the store. */
const ROUTES = [
  ['POST', '/v1/ids/default'],
  ['POST', '/v1/ids/default?n=10000'],
  ['GET', '/v1/slots/default'],
  ['GET', '/v1/slots/default?from=1000'],
  ['GET', '/readyz'],
]

/** The answers of all routes of a server whose store fails, once it has told so. */
async function answersOf(t, store, more = []) {
  const server = stopAfter(t, await startServer({ args: ['--store', store, ...more], until: 'listening' }))
  await server.told(/Group 'default': .* The server retries\.$/)
  const ask = await asker(server.url, more.length === 0 ? {} : { token: TOKEN })
  return Promise.all(ROUTES.map(([method, path]) => ask(t, method, path)))
}

async function isSilent(t, store, words) {
  for (const { status, body } of await answersOf(t, store)) {
    t.is(status, 503)
    t.notRegex(JSON.stringify(body), words)
  }
}

async function tellsWithToken(t, store, words) {
  const file = join(passingFolder(), 'tokens')
  await writeFile(file, `${TOKEN}\n`, { mode: 0o600 })
  for (const { body } of await answersOf(t, store, ['--token-file', file])) t.regex(body.detail, words)
}

withPostgres('PostgreSQL: its role, database and words are for clients with a token', async (t) => {
  const postgres = stopAfter(t, await startPostgres())
  const store = postgres.urlOf('somebody').replace(/\/\w+$/, '/somewhere')
  await isSilent(t, store, new RegExp(`somebody|somewhere|${postgres.port}|127\\.0\\.0\\.1`))
  await tellsWithToken(t, store, /somebody|somewhere/)
})

anyTest('etcd that does not answer: its address is for clients with a token', async (t) => {
  const port = await freePort()
  await isSilent(t, `etcd://127.0.0.1:${port}`, new RegExp(`127\\.0\\.0\\.1|${port}`))
  await tellsWithToken(t, `etcd://127.0.0.1:${port}`, new RegExp(String(port)))
})

onUnix('a folder that cannot be used: its path is for clients with a token', async (t) => {
  const folder = join(passingFolder(), 'a-file')
  await writeFile(folder, '')
  await isSilent(t, `file:${folder}`, /a-file|flakeforge-service/)
  await tellsWithToken(t, `file:${folder}`, /a-file/)
})

withRedis('options that only a store can refuse are a failure of the server, not of the request', async (t) => {
  const redis = stopAfter(t, await startRedis('--appendonly', 'no'))
  const file = join(passingFolder(), 'names.json')
  await writeFile(file, JSON.stringify({ names: { default: { durable: true } } }))
  for (const { status, body } of await answersOf(t, redis.url, ['--config', file])) {
    t.is(status, body.slots === undefined ? 503 : 200)
    t.notRegex(JSON.stringify(body), /append|ERR_FLAKE_INTERNAL/)
  }
})
