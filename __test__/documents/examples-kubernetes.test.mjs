// examples/kubernetes: replicas run here as plain processes, come and go under requests, and generate no ID twice; the
// answers to the probes and to Prometheus while the store is unreachable; and the manifests match the program and
// docs/run/kubernetes.md.

import { execFile, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { parseAllDocuments } from 'yaml'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { freePort } from '../servers/server.mjs'
import { stopProcess } from '../support/stop-process.mjs'
import { once, until } from '../support/waits.mjs'

const { createGroup, FlakeId } = createRequire(import.meta.url)('flakeforge')
const { createService } = await import('../../examples/kubernetes/service.mjs')

const test = wantRedis() === undefined ? anyTest.skip : anyTest

const pathOf = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const textOf = (name) => readFileSync(pathOf(`examples/kubernetes/${name}`), 'utf8')
const manifests = readdirSync(pathOf('examples/kubernetes')).filter((name) => name.endsWith('.yaml'))
const objects = manifests.flatMap((name) => parseAllDocuments(textOf(name)).map((document) => document.toJS()))
const object = (kind) => objects.find((each) => each.kind === kind)
const podOf = (kind) => object(kind).spec.template.spec
const containerOf = (kind) => podOf(kind).containers[0]

async function startServer(t, ...options) {
  const server = await startRedis(...options)
  t.teardown(() => server.stop())
  return server
}

const get = async (port, path) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  return { status: response.status, body: await response.json() }
}
const statusOf = async (port, path) => (await get(port, path).catch(() => ({ status: 'none' }))).status

/** A replica, as the manifest's command starts it. */
async function startReplica(t, url) {
  const port = await freePort()
  const [, ...args] = containerOf('Deployment').command
  const env = { ...process.env, FLAKEFORGE_STORE: url, PORT: String(port) }
  const child = spawn(process.execPath, args, { cwd: pathOf('examples/kubernetes'), env, stdio: 'pipe' })
  t.teardown(() => child.kill('SIGKILL'))
  const replica = { port, child, output: '' }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (replica.output += text))
  replica.ended = once(child, 'close').then(([code, signal]) => ({ code, signal, output: replica.output }))
  return replica
}

/** A sample of what Prometheus scrapes; undefined if there is none. */
async function sampleOf(port, name) {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  const lines = (await response.text()).split('\n')
  const line = lines.find((each) => each.startsWith(name))
  return line && Number(line.split(' ').at(-1))
}

const isReady = async ({ port }) => (await statusOf(port, '/readyz')) === 200

/**
 * Sends requests to the replicas in rotation until it is stopped; a replica that is not ready gets none, as behind a
 * Service.
 */
async function useReplicas(replicas, ids, traffic) {
  for (let i = 0; traffic.isOn; i++) {
    const { port } = replicas[i % replicas.length]
    const { status, body } = await get(port, '/ids?n=50')
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
    ids.push(...body.ids)
    await sleep(1)
  }
}

/** The Job's command, with its variable filled in as by Kubernetes, and with this package's program instead of npx. */
function createByJob(url) {
  const [npx, program, ...args] = containerOf('Job').command
  if (npx !== 'npx' || program !== 'flakeforge') throw new Error(`not npx flakeforge but ${npx} ${program}`)
  const filled = args.map((arg) => arg.replace('$(FLAKEFORGE_STORE)', url))
  return promisify(execFile)(process.execPath, [pathOf('dist/flakeforge.cjs'), ...filled])
}

test('three replicas, and a rolling restart under load: no duplicate, no failed request, all slots released', async (t) => {
  const { url } = await startServer(t)
  await createByJob(url)
  const replicas = await Promise.all([1, 2, 3].map(() => startReplica(t, url)))
  await Promise.all(replicas.map((replica) => until(() => isReady(replica))))

  const [ids, traffic] = [[], { isOn: true }]
  const using = Promise.all([1, 2, 3, 4].map(() => useReplicas(replicas, ids, traffic)))
  for (let i = 0; i < 3; i++) {
    const surge = await startReplica(t, url)
    await until(() => isReady(surge))
    const [old] = replicas.splice(0, 1) // the Service no longer sends it requests
    replicas.push(surge)
    await sleep(100) // the purpose of the manifest's preStop
    old.child.kill('SIGTERM')
    const { code, signal, output } = await old.ended
    t.deepEqual({ code, signal }, { code: 0, signal: null }, output)
  }
  traffic.isOn = false
  await using
  for (const { child, ended } of replicas) {
    child.kill('SIGTERM')
    await ended
  }

  t.true(ids.length > 1000, `only ${ids.length}`)
  t.is(new Set(ids).size, ids.length)
  const { stdout } = await promisify(execFile)(process.execPath, [
    pathOf('dist/flakeforge.cjs'),
    'slots',
    url,
    '--group',
    'orders',
    '--json',
  ])
  const slots = stdout.trim().split('\n').map(JSON.parse)
  t.true(slots.length <= 6, stdout) // three, and later one for each of them
  t.true(slots.every(({ owner }) => owner === undefined))
})

test('a request in progress at SIGTERM is answered, and then the process exits', async (t) => {
  const { url } = await startServer(t)
  await createByJob(url)
  const replica = await startReplica(t, url)
  await until(() => isReady(replica))
  const requests = Array.from({ length: 20 }, () => get(replica.port, '/ids?n=4096'))
  await Promise.race(requests) // the others are accepted or on their way
  replica.child.kill('SIGTERM')
  const settled = await Promise.allSettled(requests)
  const answers = settled.filter(({ status }) => status === 'fulfilled').map(({ value }) => value)
  t.true(answers.every(({ status, body }) => status === 200 && body.ids.length === 4096))
  const ids = answers.flatMap(({ body }) => body.ids)
  t.is(new Set(ids).size, ids.length)
  t.like(await replica.ended, { code: 0, signal: null })
})

test('while a new group is quiet a replica is live but not ready, and SIGTERM ends it', async (t) => {
  const { url } = await startServer(t)
  const replica = await startReplica(t, url)
  await until(() => replica.output.includes('FLAKEFORGE_QUIET'))
  t.is(await statusOf(replica.port, '/healthz'), 200)
  t.like(await get(replica.port, '/readyz'), { status: 503, body: { state: 'joining' } })
  t.is(await statusOf(replica.port, '/ids'), 503)
  t.is(await sampleOf(replica.port, 'flakeforge_lease_state{group="orders",state="joining"}'), 1)
  replica.child.kill('SIGTERM')
  t.like(await replica.ended, { code: 0, signal: null })
})

test('/metrics is what Prometheus reads: its content type, the state of the lease, and the IDs', async (t) => {
  const { url } = await startServer(t)
  await createByJob(url)
  const replica = await startReplica(t, url)
  await until(() => isReady(replica))
  await get(replica.port, '/ids?n=50')
  const response = await fetch(`http://127.0.0.1:${replica.port}/metrics`)
  t.is(response.status, 200)
  t.regex(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
  t.is(await sampleOf(replica.port, 'flakeforge_ids_total{layout="flake",group="orders"}'), 50)
  t.is(await sampleOf(replica.port, 'flakeforge_lease_state{group="orders",state="attached"}'), 1)
  t.true((await sampleOf(replica.port, 'flakeforge_lease_window_remaining_seconds{group="orders"}')) > 0)
})

test('a replica that cannot join exits with the reason', async (t) => {
  const replica = await startReplica(t, `redis://127.0.0.1:${await freePort()}`)
  const { code, output } = await replica.ended
  t.is(code, 1)
  t.regex(output, /ERR_FLAKE_STORE/)
})

test("a replica whose options differ from the group's exits with the reason", async (t) => {
  const { url } = await startServer(t)
  await createGroup(url, { group: 'orders', slots: 64 })
  const replica = await startReplica(t, url)
  const { code, output } = await replica.ended
  t.is(code, 1)
  t.regex(output, /ERR_FLAKE_CONFIG_MISMATCH/)
})

test('not ready once the window has ended and the store is unreachable; ready again when it is back', async (t) => {
  const server = await startServer(t)
  const options = { group: 'orders', ttlMs: 2000, skewMs: 500 }
  await createGroup(server.url, options)
  const flake = await FlakeId.join(server.url, options)
  const service = createService(() => flake).listen(0, '127.0.0.1')
  t.teardown(() => service.close())
  await once(service, 'listening')
  const { port } = service.address()
  t.is(await statusOf(port, '/readyz'), 200)

  await stopProcess(server.pid)
  await until(async () => (await statusOf(port, '/readyz')) === 503)
  t.like(await get(port, '/ids'), { status: 503, body: { code: 'ERR_FLAKE_LEASE_EXPIRED' } })
  t.is(await statusOf(port, '/healthz'), 200)
  t.is(await sampleOf(port, 'flakeforge_lease_window_remaining_seconds{group="orders"}'), 0)
  process.kill(server.pid, 'SIGCONT')
  await until(async () => (await statusOf(port, '/readyz')) === 200)
  t.is(await statusOf(port, '/ids'), 200)

  await flake.destroy()
  t.is(await statusOf(port, '/healthz'), 500)
  t.like(await get(port, '/ids'), { status: 503, body: { code: 'ERR_FLAKE_DESTROYED' } })
  await flake.close()
})

test('an invalid request is rejected', async (t) => {
  const service = createService(() => undefined).listen(0, '127.0.0.1')
  t.teardown(() => service.close())
  await once(service, 'listening')
  const { port } = service.address()
  for (const n of ['0', '4097', 'x', '1.5']) t.is(await statusOf(port, `/ids?n=${n}`), 400, n)
  t.is(await statusOf(port, '/other'), 404)
})

test('the manifests are valid YAML', (t) => {
  for (const name of manifests) {
    for (const document of parseAllDocuments(textOf(name))) t.deepEqual([...document.errors, ...document.warnings], [])
  }
  t.deepEqual(objects.map(({ kind }) => kind).sort(), [
    'Deployment',
    'HorizontalPodAutoscaler',
    'Job',
    'PodMonitor',
    'Role',
    'RoleBinding',
    'Service',
    'ServiceAccount',
  ])
})

test("the probes match the program's answers and port", (t) => {
  const { readinessProbe, livenessProbe, ports, env } = containerOf('Deployment')
  const routes = [...textOf('service.mjs').matchAll(/^ {2}'(\/\w+)':/gm)].map(([, path]) => path)
  t.deepEqual([readinessProbe.httpGet.path, livenessProbe.httpGet.path], ['/readyz', '/healthz'])
  for (const { httpGet } of [readinessProbe, livenessProbe]) {
    t.true(routes.includes(httpGet.path), httpGet.path)
    t.is(httpGet.port, ports[0].name)
  }
  t.is(env.find(({ name }) => name === 'PORT').value, String(ports[0].containerPort))
  t.is(object('Service').spec.ports[0].targetPort, ports[0].name)
})

test('the PodMonitor selects the pods of the Deployment, and scrapes the path and port that the program serves', (t) => {
  const { selector, podMetricsEndpoints } = object('PodMonitor').spec
  t.deepEqual(selector.matchLabels, object('Deployment').spec.template.metadata.labels)
  const [{ port, path }] = podMetricsEndpoints
  t.is(port, containerOf('Deployment').ports[0].name)
  t.true(textOf('service.mjs').includes(`=== '${path}'`), path)
  const page = readFileSync(pathOf('docs/run/kubernetes.md'), 'utf8')
  t.true(page.includes(textOf('pod-monitor.yaml').replace(/^#.*\n/gm, '')), 'the page shows another manifest')
})

test('the environment of the manifest matches what the program reads, and the store is in one Secret', (t) => {
  const read = [...textOf('main.mjs').matchAll(/process\.env\.(\w+)/g)].map(([, name]) => name)
  t.deepEqual(
    containerOf('Deployment')
      .env.map(({ name }) => name)
      .sort(),
    [...new Set(read)].sort(),
  )
  for (const kind of ['Deployment', 'Job']) {
    const { valueFrom } = containerOf(kind).env.find(({ name }) => name === 'FLAKEFORGE_STORE')
    t.deepEqual(valueFrom, { secretKeyRef: { name: 'flakeforge', key: 'store' } }, kind)
  }
  t.regex(textOf('README.md'), /kubectl create secret generic flakeforge --from-literal=store=/)
  const [, , , store, group] = containerOf('Job').command
  t.is(store, '$(FLAKEFORGE_STORE)')
  t.regex(textOf('main.mjs'), new RegExp(`group: '${group}'`))
})

test('docs/run/kubernetes.md matches the settings', (t) => {
  const [, table] = readFileSync(pathOf('docs/run/kubernetes.md'), 'utf8').split('| in [orders.yaml]')
  const cells = [...table.split('\n\n')[0].matchAll(/^\| ([^|]+) \|/gm)].map(([, cell]) => cell)
  const settings = [...cells.join().matchAll(/`([^`]+)`/g)].map(([, setting]) => setting)
  for (const setting of settings) t.true(textOf('orders.yaml').includes(setting), `orders.yaml has no ${setting}`)
  t.true(settings.length >= 8)
})

test('SIGTERM reaches the program in time, and the slots suffice for a rollout at full size', (t) => {
  const { command, lifecycle } = containerOf('Deployment')
  t.deepEqual(command, ['node', 'main.mjs'])
  const [, seconds] = lifecycle.preStop.exec.command
  const STORE_STEP = 5 // the longest that a step on Redis takes
  t.true(podOf('Deployment').terminationGracePeriodSeconds > Number(seconds) + 2 * STORE_STEP)
  const { scaleTargetRef, maxReplicas, minReplicas } = object('HorizontalPodAutoscaler').spec
  t.is(scaleTargetRef.name, object('Deployment').metadata.name)
  t.is(object('Deployment').spec.replicas, undefined)
  t.true(minReplicas < maxReplicas)
  t.true(maxReplicas + object('Deployment').spec.strategy.rollingUpdate.maxSurge <= 1024)
})
