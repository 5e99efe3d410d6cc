// `npm run databases:stores`: stores with too many packages for a lock file of the tests. The tests of Redis, with
// Valkey GLIDE; the store of examples/dynamodb, on DynamoDB Local with the real SDK; the one for MongoDB from
// docs/store/mongodb.md with the real driver, on a server that speaks MongoDB's protocol; the one of examples/kubernetes, on
// kube-apiserver; and the tests of MariaDB, on MySQL. No account is needed: DynamoDB Local accepts any keys. `-- kubernetes`
// runs one of them.

import { strict as assert } from 'node:assert'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { freePort, freshFolder, Server, until, wantProgram } from '../../__test__/servers/server.mjs'
import { testKubernetes } from './kubernetes/check.js'

const { npm } = createRequire(import.meta.url)('../../scripts/pack.js')
const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'target', 'stores')
const here = createRequire(join(folder, 'package.json'))

const PACKAGES = ['@valkey/valkey-glide@2.5.2', '@aws-sdk/client-dynamodb@3.1169.0', 'mongodb@7.9.0']
const MONGO_SERVER = 'secantusdb==0.7.0b3' // a package of Python
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>lab</groupId><artifactId>stores</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>com.amazonaws</groupId><artifactId>DynamoDBLocal</artifactId><version>2.6.1</version>
  </dependency></dependencies>
</project>`

function run(program, args, options) {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit', ...options })
  if (status !== 0) throw error ?? new Error(`${program} ${args.join(' ')} ended with ${status}`)
}

/** Meanwhile, this process reads what the server prints, which would wait otherwise. */
async function checkStore(file, env) {
  const program = join(root, 'packages', 'check-store', 'dist', 'flakeforge-check-store.mjs')
  const child = spawn(process.execPath, [program, file], { stdio: 'inherit', env: { ...process.env, ...env } })
  const [status] = await once(child, 'close')
  if (status !== 0) throw new Error(`the checks of ${file} ended with ${status}`)
}

function install() {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  npm(['install', '--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', ...PACKAGES], folder)
}

/** The client and the cluster client, in every test of Redis that runs with each client. */
function testGlide() {
  const names = ['behaviour/redis', 'redis-clients', 'redis-database', 'redis-options', 'redis-records'].map(inStores)
  const only = ['*glide*', '*GLIDE*', '*Cluster*'].flatMap((name) => ['--match', name])
  runTests(names, { TEST_GLIDE: join(folder, 'package.json') }, only)
}

const inStores = (name) => `stores/${name}`

/** Runs files of __test__ with these variables and options of AVA. */
function runTests(names, variables, options = []) {
  const files = names.map((name) => `__test__/${name}.test.mjs`)
  const missing = files.find((file) => !existsSync(join(root, file)))
  if (missing !== undefined) throw new Error(`there is no ${missing}`)
  const ava = join(root, 'node_modules', 'ava', 'entrypoints', 'cli.mjs')
  run(process.execPath, [ava, '--timeout=10m', ...files, ...options], {
    cwd: root,
    env: { ...process.env, ...variables },
  })
}

async function startDynamo() {
  const jars = join(folder, 'jars')
  writeFileSync(join(folder, 'pom.xml'), POM)
  if (!existsSync(jars))
    run('mvn', ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`], { cwd: folder })
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
  const program = 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner'
  const command = [
    'java',
    `-Djava.library.path=${jars}`,
    '-cp',
    join(jars, '*'),
    program,
    '-inMemory',
    '-port',
    String(port),
  ]
  const server = new Server({ command, folder: await freshFolder('dynamodb'), isReady: () => fetch(endpoint) })
  await server.start()
  const any = 'local'
  Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: endpoint, AWS_REGION: 'eu-central-1' })
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: any, AWS_SECRET_ACCESS_KEY: any })
  return server
}

/** The table as the page requires it, instead of the existing one. */
async function makeTable() {
  const { CreateTableCommand, DeleteTableCommand, DynamoDBClient } = here('@aws-sdk/client-dynamodb')
  const client = new DynamoDBClient()
  const TableName = 'flakeforge'
  const keys = [
    ['pk', 'HASH'],
    ['page', 'RANGE'],
  ]
  await client
    .send(new DeleteTableCommand({ TableName }))
    .catch(({ name }) => assert.equal(name, 'ResourceNotFoundException'))
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map(([AttributeName]) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: keys.map(([AttributeName, KeyType]) => ({ AttributeName, KeyType })),
    }),
  )
  client.destroy()
}

/** The example's code in a file. DynamoDB Local gives tables no id, so the time when a table was created replaces it. */
function writeStore() {
  const code = readFileSync(join(root, 'examples', 'dynamodb', 'store.mjs'), 'utf8')
  const id = 'Table.TableId'
  assert.equal(code.split(id).length, 2, `the example asks for ${id} once`)
  const file = join(folder, 'store.mjs')
  writeFileSync(file, code.replace(id, 'String(Table.CreationDateTime.getTime())'))
  return file
}

async function testDynamo() {
  const server = await startDynamo()
  try {
    await makeTable()
    const file = writeStore()
    await checkStore(file)
    const { default: open } = await import(pathToFileURL(file))
    const store = await open()
    const { identity } = await store.read('group', ['group'])
    assert(await store.swap('group', 'group', null, 'text', identity))
    await makeTable()
    assert.deepEqual(
      (await store.read('group', ['group'])).values,
      [null],
      'nothing of the old table is seen in the new one',
    )
    await until(async () => (await store.read('group', ['group'])).identity.history !== identity.history)
    assert.equal(await store.swap('group', 'group', null, 'late', identity), false)
    console.log('ok      a new table: seen by a client that was open before')
    process.kill(server.pid, 'SIGSTOP')
    const answer = store.read('group', ['group']).catch(({ name }) => name)
    assert.equal(await Promise.race([answer, sleep(9000, 'nothing in the time of recordStore()')]), 'TimeoutError')
    console.log('ok      a server that does not answer: an error in time')
    await store.close()
  } finally {
    await server.kill()
    await server.stop()
  }
}

async function startMongo() {
  const python = join(folder, 'python')
  if (!existsSync(python)) run('python3', ['-m', 'venv', python])
  run(join(python, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', MONGO_SERVER])
  const { MongoClient } = here('mongodb')
  const [port, data] = [await freePort(), await freshFolder('mongodb')]
  const url = `mongodb://127.0.0.1:${port}/?directConnection=true`
  const command = [join(python, 'bin', 'secantusd-py'), '--host', '127.0.0.1', '--port', String(port)]
  const isReady = async () => {
    const client = new MongoClient(url, { serverSelectionTimeoutMS: 500 })
    await client.connect().finally(() => client.close())
    return true
  }
  const server = new Server({
    command: [...command, '--storage-path', data, '--sync-on-commit'],
    folder: data,
    isReady,
  })
  await server.start()
  process.env.MONGODB_URL = url
  return server
}

/** This shows nothing about replica sets: the page says so. */
async function testMongo() {
  const server = await startMongo()
  try {
    const page = readFileSync(join(root, 'docs', 'store', 'mongodb.md'), 'utf8')
    const [, code] = /^```javascript\n(.*?)^```$/ms.exec(page)
    const file = join(folder, 'mongodb.mjs')
    writeFileSync(file, code)
    await checkStore(file)
  } finally {
    await server.kill()
    await server.stop()
  }
}

/**
 * FLAKEFORGE_MYSQLD may name another `mysqld` than Debian's newest. One test after the other, since a server of MySQL starts in
 * seconds, and needs 400 MB.
 */
function testMysql() {
  const stores = ['behaviour/mysql', 'mysql-records', 'mysql-place', 'mysql-races', 'mysql-loss', 'mysql-standby']
  const names = [...stores.map(inStores), 'command/database-function-mysql', 'command/database-times']
  runTests(names, { FLAKEFORGE_MYSQLD: process.env.FLAKEFORGE_MYSQLD ?? installMysql() }, ['--serial'])
}

function installMysql() {
  const { status, stdout, error } = spawnSync(join(import.meta.dirname, 'install-mysql.sh'), {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (status !== 0) throw error ?? new Error(`install-mysql.sh ended with ${status}`)
  return stdout.trim()
}

/** What each part runs, and the programs that it needs. */
const PARTS = {
  glide: [testGlide, 'redis-server'],
  dynamodb: [testDynamo, 'java', 'mvn'],
  mongodb: [testMongo, 'python3'],
  kubernetes: [() => testKubernetes(checkStore), 'go', 'openssl'],
  mysql: [testMysql, 'apt-get', 'dpkg', 'mariadb'], // it uses MariaDB's client
}

const named = process.argv.slice(2)
const unknown = named.find((name) => !Object.hasOwn(PARTS, name))
if (unknown !== undefined) throw new Error(`there is no part '${unknown}': there are ${Object.keys(PARTS).join(', ')}`)
const parts = named.length > 0 ? named : Object.keys(PARTS)
for (const program of parts.flatMap((name) => PARTS[name].slice(1))) {
  if (wantProgram(program) === undefined) process.exit(1)
}
if (parts.some((name) => name !== 'kubernetes' && name !== 'mysql')) install()
for (const name of parts) await PARTS[name][0]()
