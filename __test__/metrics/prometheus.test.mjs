// flakeforge/metrics in real registries of both Prometheus clients: the collected values match what generators do.
// Leases are in leases.test.mjs.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import * as imported from 'flakeforge/metrics'
import { FlakeId, freshNode, manualClock, throwsCode } from '../support/index.mjs'
import { CLIENTS, metrics, registryOf, samplesIn, typesIn, untilCollected } from '../support/metrics.mjs'
import { once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { prometheusMetrics } = metrics
const anyClient = CLIENTS['prom-client']

let layouts = 0

/** A layout name that no other test counts under. */
const freshLayout = () => ({
  name: `test-${layouts++}`,
  fields: Object.entries({ timestamp: 42, node: 10, counter: 12 }),
})

for (const [name, client] of Object.entries(CLIENTS)) {
  test.serial(`${name}: IDs are counted for each layout, however they are generated`, async (t) => {
    const { value } = registryOf(client)
    const layout = freshLayout()
    const ids = () => value('flakeforge_ids_total', { layout: layout.name })
    t.is(await ids(), undefined)
    const flake = new FlakeId({ layout, node: freshNode(), maxWaitMs: 1000 })
    t.is(await ids(), 0)
    flake.next()
    flake.nextString()
    flake.take(5000)
    await flake.nextAsync()
    new FlakeId({ layout, node: freshNode() }).next()
    t.is(await ids(), 5004)
    t.is(flake.stats.ids, 5003)
  })

  test.serial(`${name}: overflows, and waits with their duration`, async (t) => {
    const { value } = registryOf(client)
    const layout = {
      ...freshLayout(),
      fields: Object.entries({ timestamp: 42, node: 20, counter: 2 }),
    }
    const flake = new FlakeId({ layout, node: freshNode(), maxWaitMs: 1000 })
    flake.take(100)
    await flake.takeAsync(100)
    const labels = { layout: layout.name }
    const { overflows, waits, waitedMs } = flake.stats
    t.true(overflows > 0 && waits > 0 && waitedMs > 0)
    t.is(await value('flakeforge_overflows_total', labels), overflows)
    t.is(await value('flakeforge_waits_total', labels), waits)
    t.is(await value('flakeforge_wait_seconds_total', labels), waitedMs / 1000)
  })

  test.serial(`${name}: how far IDs are ahead is the maximum over all generators`, async (t) => {
    const { value } = registryOf(client)
    const layout = freshLayout()
    const [node, other] = [freshNode(), freshNode()]
    const far = new FlakeId({ layout, node, seqMask: 1, maxAheadMs: Number.POSITIVE_INFINITY })
    new FlakeId({ layout, node: other }).next()
    far.take(120_000)
    const seconds = await value('flakeforge_ahead_seconds', { layout: layout.name })
    t.true(seconds > 20 && seconds <= 60, `${seconds}`)
  })

  test.serial(`${name}: the layout's ends, the earliest of those with its name`, async (t) => {
    const { value } = registryOf(client)
    const layout = freshLayout()
    const [early, late] = [1000, 2_000_000].map((epoch) => new FlakeId({ layout, epoch, node: freshNode() }).layout)
    const end = (column) => value('flakeforge_layout_end_timestamp_seconds', { layout: layout.name, column })
    t.true(late.end > early.end)
    t.is(await end('unsigned'), early.end.getTime() / 1000)
    t.is(await end('signed'), early.signedEnd.getTime() / 1000)
  })
}

test.serial('a generator with its own clock is counted, but its clock is not the system clock', async (t) => {
  const { value, samples } = registryOf(anyClient)
  const layout = freshLayout()
  const clock = manualClock()
  const flake = new FlakeId({ layout, clock, maxAheadMs: 60_000 })
  flake.take(50_000)
  clock.now -= 10_000
  flake.next()
  t.true(flake.stats.clockSteps > 0 && flake.stats.aheadMs > 0)
  const labels = { layout: layout.name }
  t.is(await value('flakeforge_ids_total', labels), flake.stats.ids)
  t.is(await value('flakeforge_clock_steps_total', labels), 0)
  t.is(await value('flakeforge_ahead_seconds', labels), 0)
  const ends = (await samples()).filter(({ name }) => name === 'flakeforge_layout_end_timestamp_seconds')
  t.false(
    ends.some((sample) => sample.labels.layout === layout.name),
    'the present is what that clock says',
  )
})

test.serial(
  'the counts of a short-lived generator remain after it is collected, and nothing else of it does',
  async (t) => {
    const { value } = registryOf(anyClient)
    const layout = freshLayout()
    const count = () => value('flakeforge_ids_total', { layout: layout.name })
    const use = () => {
      const flake = new FlakeId({ layout, clock: manualClock() }) // such generators share nothing
      flake.take(3)
      return new WeakRef(flake)
    }
    const gone = Array.from({ length: 50 }, use)
    t.is(await count(), 150)
    await untilCollected(() => gone.every((ref) => ref.deref() === undefined))
    t.is(await count(), 150)
  },
)

test.serial('a layout name that needs escaping', async (t) => {
  const { value } = registryOf(anyClient)
  const layout = { ...freshLayout(), name: 'a "quoted" \\ name\nin two lines' }
  new FlakeId({ layout, node: freshNode() }).take(7)
  t.is(await value('flakeforge_ids_total', { layout: layout.name }), 7)
})

test.serial('every metric is documented with its type and labels, and every documented one exists', async (t) => {
  const { registry } = registryOf(anyClient)
  const types = typesIn(await registry.metrics())
  for (const file of ['lib/metrics/prometheus.ts', 'docs/run/monitoring.md']) {
    const text = await readFile(path.join(import.meta.dirname, '..', '..', file), 'utf8')
    const rows = [...text.matchAll(/\| `(flakeforge_\w+)` \| (\w+) \| ([\w, ]+) \|/g)]
    t.deepEqual(Object.fromEntries(rows.map(([, name, type]) => [name, type])), types, file)
    for (const [, name, , labels] of rows)
      t.deepEqual(registry.getSingleMetric(name).labelNames.join(', '), labels, `${file}: ${name}`)
  }
})

test.serial('the default registry, several registries, and calling it again', async (t) => {
  const { registry } = registryOf(anyClient)
  const [first, second] = [new anyClient.Registry(), new anyClient.Registry()]
  prometheusMetrics(anyClient)
  for (const each of [first, second, first]) prometheusMetrics(anyClient, each)
  prometheusMetrics(anyClient, null)
  new FlakeId({ id: freshNode() }).next()
  const total = async (from) =>
    samplesIn(await from.metrics()).find(({ name }) => name === 'flakeforge_ids_total').value
  t.true((await total(registry)) > 0)
  t.is(await total(anyClient.register), await total(registry))
  t.is(await total(first), await total(second))
  const names = first.getMetricsAsArray().map(({ name }) => name)
  t.is(new Set(names).size, names.length)
  first.clear()
  prometheusMetrics(anyClient, first)
  t.deepEqual(
    first.getMetricsAsArray().map(({ name }) => name),
    names,
  )
  second.removeSingleMetric('flakeforge_ids_total')
  prometheusMetrics(anyClient, second)
  t.is(await total(second), await total(first))
})

test.serial('a registry of the OpenMetrics format', async (t) => {
  const { Registry } = anyClient
  const registry = new Registry(Registry.OPENMETRICS_CONTENT_TYPE)
  prometheusMetrics(anyClient, registry)
  prometheusMetrics(anyClient, registry)
  new FlakeId({ id: freshNode() }).next()
  for (let i = 0; i < 2; i++) {
    const text = await registry.metrics()
    t.regex(text, /^# TYPE flakeforge_ids counter$/m)
    t.regex(text, /^flakeforge_ids_total\{layout="flake"\} \d+$/m)
  }
  t.notThrows(() => prometheusMetrics(anyClient, registry))
})

test.serial("another library's metric is not replaced, and nothing is registered", (t) => {
  const registry = new anyClient.Registry()
  new anyClient.Gauge({ name: 'flakeforge_lease_state', help: 'theirs', registers: [registry] })
  const error = throwsCode(t, () => prometheusMetrics(anyClient, registry), 'ERR_FLAKE_OPTION', TypeError)
  t.regex(error.message, /already has a metric 'flakeforge_lease_state'.*new client\.Registry\(\)/)
  t.is(registry.getMetricsAsArray().length, 1)
})

test.serial('an invalid client or registry is rejected, and the error says what to pass', (t) => {
  const bad = [undefined, null, {}, 'prom-client', anyClient.Counter, { ...anyClient, Histogram: undefined }]
  for (const client of bad) {
    const error = throwsCode(t, () => prometheusMetrics(client), 'ERR_FLAKE_OPTION', TypeError)
    t.regex(error.message, /^client must be .*require\('@prometheus-io\/client'\) or require\('prom-client'\)/)
  }
  const swapped = throwsCode(t, () => prometheusMetrics(new anyClient.Registry()), 'ERR_FLAKE_OPTION', TypeError)
  t.regex(swapped.message, /this is a registry, which is the second argument/)
  for (const registry of [{}, 'default', anyClient]) {
    const error = throwsCode(t, () => prometheusMetrics(anyClient, registry), 'ERR_FLAKE_OPTION', TypeError)
    t.regex(error.message, /^registry must be .*new client\.Registry\(\)/)
  }
})

test.serial('import behaves like require', (t) => {
  t.deepEqual({ ...imported }, { ...require('flakeforge/metrics') })
  t.is(imported.prometheusMetrics, prometheusMetrics)
})

test.serial('a worker thread counts for itself', async (t) => {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
    const client = require('prom-client')
    new (require('flakeforge'))({ id: 1 }).take(11)
    require('flakeforge/metrics').prometheusMetrics(client)
    client.register.getSingleMetricAsString('flakeforge_ids_total').then((text) => parentPort.postMessage(text))`,
    { eval: true },
  )
  const [text] = await once(worker, 'message')
  t.deepEqual(samplesIn(text), [{ name: 'flakeforge_ids_total', labels: { layout: 'flake' }, value: 11 }])
  await worker.terminate()
})

// The last one, because it uses up the names that this thread counts.
test.serial('an unlimited number of names is counted together from the thousandth on', async (t) => {
  const { samples } = registryOf(anyClient)
  const ids = async () => (await samples()).filter(({ name }) => name === 'flakeforge_ids_total')
  const before = (await ids()).reduce((sum, { value }) => sum + value, 0)
  const fields = Object.entries({ timestamp: 42, node: 10, counter: 12 })
  for (let i = 0; i < 1100; i++) new FlakeId({ layout: { name: `many-${i}`, fields }, clock: manualClock() }).next()
  const after = await ids()
  t.is(after.length, 1001)
  t.true(after.find(({ labels }) => labels.layout === '{other}').value >= 100)
  t.is(
    after.reduce((sum, { value }) => sum + value, 0),
    before + 1100,
  )
})
