// Every output that a document shows is what its sample prints: the commands and programs of docs/, the README and the examples
// run, one after the other, in a folder where flakeforge is installed and on real servers. An output that cannot be had here
// says why, in a comment before it.

import { spawn } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { hostname } from 'node:os'
import path from 'node:path'
import anyTest from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { freePort, freshFolder } from '../servers/server.mjs'
import { WHY_LONG } from '../support/command.mjs'
import { commented, documentsIn, outputs, shape, values } from '../support/documents.mjs'
import { limited, once } from '../support/waits.mjs'

const { createGroup, FlakeId } = createRequire(import.meta.url)('flakeforge')

const ROOT = path.join(import.meta.dirname, '..', '..')
const read = (document) => readFileSync(path.join(ROOT, document), 'utf8')
const documents = [...documentsIn('.')].map((document) => ({ document, all: outputs(read(document)) }))

const canRun = process.platform !== 'win32' && wantRedis() !== undefined && wantPostgres() !== undefined
const test = canRun ? anyTest : anyTest.skip

/** Outputs that another test compares. */
const OF_QUORUM = 'redis://localhost:7001 redis://localhost:7002 redis://localhost:7003'
const ELSEWHERE = {
  'npm start -- 5': 'readme.test.mjs',
  [`npx flakeforge create ${OF_QUORUM} orders`]: 'guide-quorum.test.mjs',
  [`npx flakeforge slots ${OF_QUORUM} --group orders`]: 'guide-quorum.test.mjs',
}

/** How many outputs are not run, for the reasons beside them. */
const NOT_RUN = 9

test('each output has the sample that prints it before it, or says why it is not run', (t) => {
  const shown = documents.flatMap(({ document, all }) => all.map((each) => ({ document, ...each })))
  const lost = shown.filter(({ of, notRun }) => of === undefined && notRun === undefined)
  t.deepEqual(
    lost.map(({ document, line }) => `${document}:${line}`),
    [],
  )
  t.is(shown.filter(({ notRun }) => notRun !== undefined).length, NOT_RUN)
  t.true(shown.length > 30, `only ${shown.length}`)
})

// --- what a document needs before its first sample ---

/** The IDs of the page about `audit`, in the order of their insertion: two programs have worker 3. */
const AUDITED = [
  '7529559805510299648',
  '7529559805510299649',
  '7529559805514498048',
  '7529559807213191168',
  '7529559809335504896',
  '7529559809356480512',
  '7529559809335504896',
  '7529559811055169536',
]

/** A member that has a slot, and one that gave its slot back; both made an ID. */
async function twoMembers(t, store, group) {
  const options = { group, skewMs: 100 }
  await createGroup(store, options)
  const [stays, leaves] = [await FlakeId.join(store, options), await FlakeId.join(store, options)]
  for (const flake of [stays, leaves]) flake.next()
  await leaves.close()
  t.teardown(() => stays.close())
}

const SETUPS = {
  async 'docs/reference/command-line.md'(t, { ids }) {
    await twoMembers(t, `file:${ids}`, 'default')
    await createGroup(`file:${ids}`, { group: 'shop' })
  },
  'docs/run/processes.md': (t, { ids }) => twoMembers(t, `file:${ids}`, 'default'),
  'docs/store/choosing.md': (t, { redis }) => twoMembers(t, redis.url, 'checkout'),
  async 'docs/data/audit.md'(_t, { postgres }) {
    await postgres.query('CREATE TABLE orders (id bigint)')
    await postgres.query('INSERT INTO orders SELECT unnest($1::bigint[])', [AUDITED])
  },
  'examples/clients/curl/README.md': withServer,
  'docs/service/server.md': withServer,
}

async function withServer(t, world) {
  const server = await startServer()
  t.teardown(() => server.stop())
  world.renamed.unshift(['127.0.0.1:8080', new URL(server.url).host])
}

// --- running a sample ---

/** Programs that go on until they are stopped: their output is what they print first. */
const STAYS = /^npx flakeforge-server$|\b(?:main|prometheus)\.mjs$/m

/** The samples whose output is the same today as when it was written, except for ages. */
const SAME = /\bflakeforge (?:inspect|at|layouts|audit)\b/
const withoutAges = (text) =>
  text.replaceAll(/\b(?:in )?[\d.]+ (?:years|months|days)(?: ago)?/g, 'AGE').replaceAll(/\b\d+ %/g, 'SHARE')

/**
 * Without what differs from run to run: numbers, dates, and the machine's name; but none are none. A list of slots has any number
 * of rows.
 */
function fresh(text, isList) {
  const base32 = /\b[\dA-HJKMNP-TV-Z]{13}\b/g
  const lines = shape(
    text
      .replaceAll(base32, '0')
      .replaceAll(/\b0 (?=duplicates|of them)/g, 'no ')
      .replaceAll(/\b(?:web-\d+|vm)\b/g, 'HOST')
      .replaceAll(hostname(), 'HOST'),
  ).split('\n')
  const different = [...new Set(lines.map((line) => line.trim()))]
  return isList ? different.sort() : different
}

/** The servers that a document needs, at the addresses that it names. */
async function startServers(t, text) {
  const redis = text.includes('redis://localhost') ? await startRedis() : undefined
  const postgres = /postgres:\/\/localhost|\bpsql\b/.test(text) ? await startPostgres() : undefined
  t.teardown(() => Promise.all([redis?.stop(), postgres?.stop()]))
  return { redis, postgres }
}

/** What a document says, and what it is here. */
function names({ redis, postgres }, { folder, ids, port }) {
  const hostOf = (url) => new URL(url).host
  const ofRedis = redis && [['redis://localhost', redis.url], ['localhost:6379', hostOf(redis.url)]] // biome-ignore format: a pair each
  const ofPostgres = postgres && [['postgres://localhost/postgres', postgres.url], ['localhost:5432', hostOf(postgres.url)]] // biome-ignore format: a pair each
  const ports = [':8080', 'PORT=8080', ':9464'].map((said) => [said, said.replace(/\d+/, port)])
  const paths = [['/var/lib/app/ids', ids], ['/tmp/flakeforge-observability', path.join(folder, 'observability')]] // biome-ignore format: a pair each
  return [...(ofRedis ?? []), ...(ofPostgres ?? []), ...paths, ...ports]
}

/** For psql. */
function pgVariables({ url }) {
  const { hostname: host, port, username } = new URL(url)
  return { PGHOST: host, PGPORT: port, PGUSER: username, PGDATABASE: 'postgres' }
}

const BIN = {
  flakeforge: 'dist/flakeforge.cjs',
  'flakeforge-server': 'packages/server/dist/flakeforge-server.mjs',
}

/** A folder where flakeforge and what the examples need are installed, as npm would do it. */
async function installedFolder(t) {
  const folder = await freshFolder('outputs')
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const home = path.join(folder, 'home')
  const bin = path.join(home, 'node_modules', '.bin')
  await mkdir(bin, { recursive: true })
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), 'junction')
  await symlink(ROOT, path.join(home, 'node_modules', 'flakeforge'), 'junction')
  await symlink(path.join(ROOT, 'examples'), path.join(home, 'examples'), 'junction')
  for (const [name, file] of Object.entries(BIN)) {
    chmodSync(path.join(ROOT, file), 0o755)
    await symlink(path.join(ROOT, file), path.join(bin, name))
  }
  await writeFile(path.join(home, '.curlrc'), 'silent\nshow-error\n') // as in a terminal
  return { folder, home, ids: path.join(folder, 'ids') }
}

/** Where the samples of a document run. */
async function makeWorld(t, text) {
  const [servers, folders, port] = [await startServers(t, text), await installedFolder(t), await freePort()]
  const outside = Object.entries(process.env).filter(([name]) => !/^(?:FLAKEFORGE_|npm_)/i.test(name))
  const env = {
    ...Object.fromEntries(outside),
    ...(servers.postgres && pgVariables(servers.postgres)),
    HOME: folders.home,
    XDG_STATE_HOME: path.join(folders.folder, 'state'),
    NODE_OPTIONS: `--require ${path.join(ROOT, '__test__', 'workers', 'not-in-a-container.cjs')}`,
    PORT: String(port),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  }
  return { ...servers, ...folders, renamed: names(servers, { ...folders, port }), env, staying: [] }
}

const toHere = (text, { renamed }) => renamed.reduce((result, [said, here]) => result.replaceAll(said, here), text)
const toDocument = (text, { renamed }) =>
  renamed.reduceRight((result, [said, here]) => result.replaceAll(here, said), text)

/** Runs a sample and returns its stdout followed by its stderr, without what `create` says while it waits. A program that keeps running is stopped after the test. */
async function outputOf(t, { language, code }, world, i) {
  const here = toHere(code, world)
  const file = path.join(world.home, `${i}.mjs`)
  if (language !== 'sh') await writeFile(file, here)
  const [program, ...args] = language === 'sh' ? ['bash', '-uc', here] : [process.execPath, file]
  const child = spawn(program, args, {
    cwd: world.home,
    env: world.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  t.teardown(() => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {} // it has ended
    return ended
  })
  let [output, errors] = ['', '']
  const printed = new Promise((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
      if (output.includes('\n')) resolve()
    })
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  if (STAYS.test(code)) world.staying.push({ child, ended })
  await limited(Promise.race([ended, ...(STAYS.test(code) ? [printed] : [])]), () => `the output of ${code}`)
  return toDocument(output + errors.replace(WHY_LONG, ''), world)
}

/** Programs that go on get the signal of `kill` before the slots are listed, as the documents say. */
async function stopStaying({ staying }) {
  for (const { child, ended } of staying.splice(0)) {
    process.kill(-child.pid, 'SIGTERM')
    await ended
  }
}

const isElsewhere = ({ code }) => Object.keys(ELSEWHERE).some((line) => code.split('\n').includes(line))

for (const { document, all } of documents) {
  const samples = all.filter(({ of, notRun }) => of !== undefined && notRun === undefined && !isElsewhere(of))
  if (samples.length === 0) continue
  test(`${document} shows what its samples print`, async (t) => {
    const text = read(document)
    const world = await makeWorld(t, text)
    await SETUPS[document]?.(t, world)
    await saveNamed(text, world)
    for (const [i, { of, shown }] of samples.entries()) {
      const isList = /\bslots\b/.test(of.code)
      if (isList) await stopStaying(world)
      const output = await outputOf(t, of, world, i)
      if (SAME.test(of.code) || of.language !== 'sh')
        t.is(withoutAges(output.trimEnd()), withoutAges(shown.trimEnd()), of.code)
      else t.deepEqual(fresh(output, isList), fresh(shown, isList), of.code + output)
    }
  })
}

for (const document of documentsIn('.')) {
  const samples = commented(read(document))
  if (samples.length === 0) continue
  test(`${document} shows in comments what its commands print`, async (t) => {
    const world = await makeWorld(t, read(document))
    await SETUPS[document]?.(t, world)
    for (const [i, { code, shown }] of samples.entries()) {
      const output = fresh(await outputOf(t, { language: 'sh', code }, world, i))
      const promised = fresh(shown)
      const [last, length] = [promised.at(-1), promised.length]
      // A line may end in …, for more of the same kind.
      const cut = last.endsWith(' …') ? output.map((line) => `${line.slice(0, last.length - 2)} …`) : output
      t.deepEqual(cut.slice(0, length), promised, code)
      t.is(output.length, length, code)
    }
  })
}

/** Programs with a name, which a later command runs: `// first.mjs`. */
async function saveNamed(text, { home }) {
  for (const [, code, name] of text.matchAll(/^```js\n(\/\/ (\S+\.mjs)\n.*?)^```$/gms))
    await writeFile(path.join(home, name), code)
}

test('README: the values in the comments are those of the expressions', async (t) => {
  const text = read('README.md')
  const world = await makeWorld(t, '')
  const block = [...text.matchAll(/^```js\n(.*?)^```$/gms)]
    .map(([, code]) => code)
    .find((code) => code.includes('isId'))
  const all = values(block)
  t.is(all.length, 4)
  const [head] = block.split('\n\n')
  const code = [head, ...all.map(({ program }) => program)].join('\n')
  const printed = (await outputOf(t, { language: 'js', code }, world, 0)).trimEnd().split('\n')
  t.deepEqual(printed, all.map(({ value }) => value)) // biome-ignore format: one line
})
