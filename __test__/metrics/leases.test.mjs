// The metrics of leases and counters: on a real Redis and in files, with OpenTelemetry's SDK next to Prometheus.

import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { createNoopMeter } from '@opentelemetry/api'
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import test from 'ava'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { until } from '../servers/server.mjs'
import { FlakeId, lease, runChild, throwsCode } from '../support/index.mjs'
import { happens, joinAs, joined, leaseOptions } from '../support/lease.mjs'
import { CLIENTS, metrics, registryOf, samplesIn } from '../support/metrics.mjs'
import { giveAway } from '../support/store.mjs'
import { once } from '../support/waits.mjs'

const redisTest = wantRedis() ? test.serial : test.skip
const { value, samples } = registryOf(CLIENTS['prom-client'])

let groups = 0
const freshGroup = () => `group-${groups++}`

let server
test.before(async () => {
  if (wantRedis()) server = await startRedis()
})
test.after.always(() => server?.stop())

/** A member of a group on Redis. */
async function onRedis(t, group, options = {}) {
  const own = leaseOptions({ group, ...options })
  await FlakeId.createGroup(server.url, own) // or the first would have to wait
  const flake = await joinAs(t, server.url, own)
  return flake
}

const states = async (group) => {
  const of = (state) => value('flakeforge_lease_state', { group, state })
  return [await of('joining'), await of('attached'), await of('detached'), await of('destroyed')]
}

redisTest('a lease: its state, slot and window, and the IDs of its group', async (t) => {
  const group = freshGroup()
  const flake = await onRedis(t, group)
  flake.take(42)
  const remaining = () => value('flakeforge_lease_window_remaining_seconds', { group })
  t.deepEqual(await states(group), [0, 1, 0, 0])
  t.is(await value('flakeforge_ids_total', { layout: 'flake', group }), 42)
  const slot = String(flake.slot)
  t.is(await value('flakeforge_lease_slot_info', { group, slot }), 1)
  const [seconds, left] = [await remaining(), (flake.expires - Date.now()) / 1000]
  t.true(seconds > 0 && Math.abs(seconds - left) < 1, `${seconds} s, and ${left} s by \`expires\``)
  await flake.detach()
  t.deepEqual(await states(group), [0, 0, 1, 0])
  t.is(await value('flakeforge_lease_slot_info', { group, slot }), undefined)
  t.is(await remaining(), undefined, 'its IDs are not needed')
  await flake.attach()
  flake.take(8)
  t.is(await value('flakeforge_ids_total', { layout: 'flake', group }), 50, 'those of the former slot stay counted')
  await flake.close()
  t.deepEqual(await states(group), [undefined, undefined, undefined, undefined])
  t.is(await remaining(), undefined)
  t.is(await value('flakeforge_ids_total', { layout: 'flake', group }), 50)
})

redisTest('two leases of a group: states are added, and the window is the one that ends first', async (t) => {
  const [group, epoch] = [freshGroup(), 5]
  const flakes = [await onRedis(t, group, { epoch }), await onRedis(t, group, { epoch })]
  t.deepEqual(await states(group), [0, 2, 0, 0])
  const info = (await samples()).filter(({ name, labels }) => name.endsWith('slot_info') && labels.group === group)
  t.deepEqual(info.map(({ labels }) => labels.slot).sort(), flakes.map(({ slot }) => String(slot)).sort())
  await happens(flakes[0], 'renewed')
  const seconds = await value('flakeforge_lease_window_remaining_seconds', { group })
  const first = Math.min(...flakes.map(({ expires }) => expires - Date.now())) / 1000
  t.true(Math.abs(seconds - Math.max(first, 0)) < 0.5, `${seconds} s, and ${first} s by \`expires\``)
})

const renewals = (group, result) => value('flakeforge_lease_renewals_total', { group, result })

redisTest('renewals by result, and how long they took', async (t) => {
  const group = freshGroup()
  const flake = await onRedis(t, group)
  t.is(await renewals(group, 'renewed'), undefined, 'none yet')
  const buckets = () => value('flakeforge_lease_renew_duration_seconds_count', { group })
  await happens(flake, 'renewed')
  const count = await renewals(group, 'renewed')
  t.true(count >= 1)
  t.is(await buckets(), count)
  const sum = await value('flakeforge_lease_renew_duration_seconds_sum', { group })
  t.true(sum > 0 && sum < 60, `${sum}`)
  const other = await onRedis(t, group, { epoch: flake.epoch })
  const destroyed = happens(flake, 'destroyed')
  await other.destroy()
  await destroyed
  t.is(await renewals(group, 'destroyed'), 1)
  t.deepEqual(await states(group), [0, 0, 0, 2])
  t.is(await value('flakeforge_lease_window_remaining_seconds', { group }), undefined)
})

test.serial('a lost slot: no window remains until there is another', async (t) => {
  const group = freshGroup()
  const { flake, store } = await joined(t, { group })
  const lost = happens(flake, 'lost')
  giveAway(store, flake.slot, group)
  store.before = async (step) => {
    if (step === 'acquire') throw new Error('not now')
  }
  await lost
  t.is(await renewals(group, 'lost'), 1)
  t.deepEqual(await states(group), [1, 0, 0, 0])
  t.is(await value('flakeforge_lease_window_remaining_seconds', { group }), 0)
  const attached = happens(flake, 'attached')
  store.work()
  await attached
  t.deepEqual(await states(group), [0, 1, 0, 0])
})

const acquisitions = (group, result) => value('flakeforge_lease_acquisitions_total', { group, result })
const slotsOf = (group) => value('flakeforge_group_slots', { group })

redisTest('a member that joins: before it has a slot, when none is free, and when it gives up', async (t) => {
  const group = freshGroup()
  const own = { group, slots: 1, epoch: 5 }
  const flake = await onRedis(t, group, own)
  t.deepEqual([await acquisitions(group, 'granted'), await acquisitions(group, 'exhausted')], [1, 0])
  t.is(await slotsOf(group), 1)
  const stop = new AbortController()
  const waiting = FlakeId.join(server.url, leaseOptions({ ...own, signal: stop.signal }))
  await until(async () => (await acquisitions(group, 'exhausted')) > 0)
  t.deepEqual(await states(group), [1, 1, 0, 0])
  stop.abort()
  t.is((await waiting.catch((error) => error)).name, 'AbortError')
  t.deepEqual(await states(group), [0, 1, 0, 0], 'it no longer looks for a slot')
  await flake.close()
  t.is(await slotsOf(group), undefined)
})

test.serial('the first member of a group: before its store answers, and after the store refused', async (t) => {
  const group = freshGroup()
  const NONE = [undefined, undefined, undefined, undefined]
  const silent = net.createServer().listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const stop = new AbortController()
  const options = leaseOptions({ group, signal: stop.signal })
  const waiting = FlakeId.join(`redis://127.0.0.1:${silent.address().port}`, options)
  await until(async () => (await states(group))[0] === 1)
  stop.abort()
  t.is((await waiting.catch((error) => error)).name, 'AbortError')
  t.deepEqual(await states(group), NONE)
  const refused = FlakeId.join('redis://127.0.0.1:1', leaseOptions({ group }))
  await t.throwsAsync(refused, { code: 'ERR_FLAKE_STORE' })
  t.is(await acquisitions(group, 'failed'), 1)
  t.deepEqual(await states(group), NONE)
})

test.serial('a failed renewal is counted, and so is its duration', async (t) => {
  const group = freshGroup()
  const { store } = await joined(t, { group })
  store.fail()
  await until(async () => (await renewals(group, 'failed')) > 0)
  t.true((await value('flakeforge_lease_renew_duration_seconds_count', { group })) > 0)
  store.work()
  await until(async () => (await renewals(group, 'renewed')) > 0)
})

/** A folder for a store of files. */
function fileAddress(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-metrics-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  return `file:${folder}`
}

test.serial('a slot in a file needs no renewal, so it has no window metric', async (t) => {
  const group = freshGroup()
  const flake = await FlakeId.join(fileAddress(t), { group })
  flake.take(5)
  t.deepEqual(await states(group), [0, 1, 0, 0])
  t.is(await value('flakeforge_ids_total', { layout: 'flake', group }), 5)
  t.is(await value('flakeforge_lease_window_remaining_seconds', { group }), undefined)
  await flake.close()
  t.is(await value('flakeforge_ids_total', { layout: 'flake', group }), 5)
})

test.serial('the numbers held by the members of a counter', async (t) => {
  const store = fileAddress(t)
  const remaining = (segment) => value('flakeforge_segment_remaining', { segment })
  const open = (name) => lease.SegmentId.open(store, { name, block: 100 })
  const [one, other, invoices] = [await open('orders'), await open('orders'), await open('invoices')]
  one.take(30)
  t.is(await remaining('orders'), 170)
  t.is(await remaining('invoices'), 100)
  await one.close()
  t.is(await remaining('orders'), 100)
  await Promise.all([other.close(), invoices.close()])
  t.is(await remaining('orders'), undefined)
})

class Reader extends MetricReader {
  async onShutdown() {}
  async onForceFlush() {}
}

/** A meter, and its samples as OpenTelemetry's own exporter presents them to Prometheus. */
function meterOf() {
  const reader = new Reader()
  const meter = new MeterProvider({ readers: [reader] }).getMeter('flakeforge')
  const exported = async () => {
    const { resourceMetrics, errors } = await reader.collect()
    if (errors.length > 0) throw errors[0]
    const all = samplesIn(new PrometheusSerializer().serialize(resourceMetrics))
    return all.filter(({ name }) => name.startsWith('flakeforge_')).map(withoutScope)
  }
  return { meter, exported }
}

const withoutScope = ({ labels, ...sample }) => {
  const own = Object.entries(labels).filter(([label]) => !label.startsWith('otel_scope_'))
  return { ...sample, labels: Object.fromEntries(own) }
}

/** Samples as a sorted list of texts, without those that differ in every collection. */
const sorted = (list) =>
  list
    .filter(({ name }) => !/_window_remaining_|_renew_duration_/.test(name))
    .map(({ name, labels, value }) => JSON.stringify([name, Object.entries(labels).sort(), value]))
    .sort()

const ofGroup = (list, name, group) =>
  list.find((sample) => sample.name === name && sample.labels.group === group)?.value

test.serial("OpenTelemetry: through its exporter, names and values are those of Prometheus' client", async (t) => {
  const { meter, exported } = meterOf()
  metrics.openTelemetryMetrics(meter)
  metrics.openTelemetryMetrics(meter)
  const group = freshGroup()
  const { flake } = await joined(t, { group })
  flake.take(77)
  await happens(flake, 'renewed')
  const found = await exported()
  t.deepEqual(sorted(found), sorted(await samples()))
  t.is(ofGroup(found, 'flakeforge_ids_total', group), 77)
  t.true(ofGroup(found, 'flakeforge_lease_window_remaining_seconds', group) > 0)
  t.is(ofGroup(found, 'flakeforge_lease_renew_duration_seconds_count', group), 1)
  flake.take(23)
  t.is(ofGroup(await exported(), 'flakeforge_ids_total', group), 100)
})

test.serial('OpenTelemetry: an invalid meter is rejected, and the error says what to pass', (t) => {
  for (const meter of [undefined, null, {}, 'flakeforge', new MeterProvider()]) {
    const error = throwsCode(t, () => metrics.openTelemetryMetrics(meter), 'ERR_FLAKE_OPTION', TypeError)
    t.regex(error.message, /^meter must be .*metrics\.getMeter\('flakeforge'\)/)
    t.is(/this is its provider/.test(error.message), meter instanceof MeterProvider)
  }
  t.notThrows(() => metrics.openTelemetryMetrics(createNoopMeter()))
})

test.serial('an error of the monitoring library is uncaught, and the lease continues', async (t) => {
  const source = `
    import client from 'prom-client'
    import { prometheusMetrics } from 'flakeforge/metrics'
    import { MemoryStore, LEASE } from ${JSON.stringify(new URL('../support/store.mjs', import.meta.url).href)}
    const uncaught = []
    process.on('uncaughtException', ({ message }) => uncaught.push(message))
    prometheusMetrics(client)
    client.register.getSingleMetric('flakeforge_lease_renew_duration_seconds').observe = () => { throw new Error('full') }
    const flake = await FlakeId.join(new MemoryStore(), LEASE)
    const alive = setInterval(() => {}, 1000)
    for (let i = 0; i < 2; i++) await new Promise((resolve) => flake.once('renewed', resolve))
    clearInterval(alive)
    await flake.close()
    console.log(JSON.stringify(uncaught.slice(0, 2)))`
  const { code, stdout, stderr } = await runChild(source)
  t.is(code, 0, stderr)
  t.deepEqual(JSON.parse(stdout), ['full', 'full'])
})
