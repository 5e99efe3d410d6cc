// The metrics for @prometheus-io/client and prom-client, through their public calls only. Values are read when the registry
// is collected. A metric is registered once, never replaces one that another library registered, and does not keep a registry
// alive.

import { isAbsent } from '../base/check.ts'
import * as errors from '../base/errors.ts'
import { type Observer, observers } from '../lease/counts-for-metrics.ts'
import { DURATION, FAMILIES, type Family, type Snapshot, snapshot } from './families.ts'

type Metric = {
  reset(): void
  inc(labels: object, value: number): void
  set(labels: object, value: number): void
}

export type Histogram = { observe(labels: object, value: number): void }

type MetricClass = new <M>(config: object) => M

export type Registry = { getSingleMetric(name: string): unknown }

export type Client = { Counter: MetricClass; Gauge: MetricClass; Histogram: MetricClass; register: Registry }

/** Our metrics in a registry, by name; the observer lives as long as they do. */
type Registered = { metrics: Map<string, unknown>; observe?: Observer }

const registeredIn: WeakMap<Registry, Registered> = new WeakMap()

let latest: Snapshot | undefined // a registry asks all metrics synchronously, so they all share this snapshot

function present() {
  if (latest === undefined) {
    latest = snapshot()
    Promise.resolve().then(() => {
      latest = undefined
    })
  }
  return latest
}

/**
 * Registers flakeforge's metrics with a Prometheus client. The values are read when the registry is collected, so generating
 * an ID costs no more than before. The metrics count from the start of the thread, and include generators that no longer
 * exist.
 *
 * | metric | type | labels | |
 * |---|---|---|---|
 * | `flakeforge_ids_total` | counter | layout, group | IDs generated |
 * | `flakeforge_overflows_total` | counter | layout, group | attempts that found the counter of a tick used up |
 * | `flakeforge_clock_steps_total` | counter | layout, group | how often a generator saw the clock step back |
 * | `flakeforge_waits_total` | counter | layout, group | waits for an ID |
 * | `flakeforge_wait_seconds_total` | counter | layout, group | the total duration of these waits |
 * | `flakeforge_ahead_seconds` | gauge | layout, group | how far the last ID is ahead of the clock, at most |
 * | `flakeforge_lease_window_remaining_seconds` | gauge | group | how long IDs can be generated without a renewal, at least; 0 without a slot. Not for slots in files, which need no renewal |
 * | `flakeforge_lease_state` | gauge | group, state | how many leases are `joining` (looking for a slot), `attached`, `detached`, `destroyed` |
 * | `flakeforge_lease_slot_info` | gauge | group, slot | always 1, for each slot that is held now |
 * | `flakeforge_group_slots` | gauge | group | how many slots the group has |
 * | `flakeforge_lease_acquisitions_total` | counter | group, result | calls to the store for a slot: `granted`, `exhausted`, `quiet`, `destroyed`, `failed` |
 * | `flakeforge_lease_renewals_total` | counter | group, result | renewals: `renewed`, `lost`, `destroyed`, `failed` |
 * | `flakeforge_lease_renew_duration_seconds` | histogram | group | how long the store took to answer them; counts from this call on |
 * | `flakeforge_segment_remaining` | gauge | segment | IDs that members of a counter still hold |
 * | `flakeforge_store_up` | gauge | store | whether each of several stores that are one takes part: 1 or 0 |
 * | `flakeforge_store_events_total` | counter | event | what happened among them: `beaten`, `unknown`, `torn`, `completed`, `filled`, `era` |
 * | `flakeforge_layout_end_timestamp_seconds` | gauge | layout, column | Unix time from which on IDs do not fit an `unsigned` 64-bit column (and none are generated), or a `signed` one |
 *
 * `group` is missing if the node number is not leased. Closed leases and counters are not shown.
 *
 * Counts are per thread. A worker thread has its own registry; the client's `WorkerRegistry` joins them, as `ClusterRegistry`
 * does for the processes of a cluster.
 *
 * Repeated calls for the same registry have no effect; after `registry.clear()` a call registers the metrics again. Several
 * registries can have them.
 *
 * @param client the module: `require('@prometheus-io/client')`, or `require('prom-client')` from version 14 on
 * @param registry default `client.register`
 * @throws {TypeError} `ERR_FLAKE_OPTION`: it is not such a module or registry, or the registry already has another library's
 * metric of one of these names.
 * @example
 * import client from 'prom-client'
 * import { prometheusMetrics } from 'flakeforge/metrics'
 * prometheusMetrics(client)
 * console.log(await client.register.metrics())
 */
export function prometheusMetrics(client: unknown, registry?: unknown): void
export function prometheusMetrics(givenClient: unknown, givenRegistry?: unknown) {
  const client = readClient(givenClient)
  const registry = isAbsent(givenRegistry) ? client.register : readRegistry(givenRegistry)
  const registered = registeredIn.get(registry) ?? { metrics: new Map() }
  const missing = namesMissing(registry, registered)
  for (const family of FAMILIES) {
    if (missing.has(nameOf(family))) registered.metrics.set(nameOf(family), register(client, registry, family))
  }
  if (missing.has(DURATION.name)) registerDuration(client, registry, registered)
  registeredIn.set(registry, registered)
}

const nameOf = ({ name, type }: Family) => (type === 'counter' ? `${name}_total` : name)

/** Those of our names that this registry lacks. */
function namesMissing(registry: Registry, { metrics }: Registered) {
  const names = [...FAMILIES.map(nameOf), DURATION.name]
  const missing = names.filter((name) => registry.getSingleMetric(name) === undefined)
  const foreign = names.find((name) => !missing.includes(name) && registry.getSingleMetric(name) !== metrics.get(name))
  if (foreign === undefined) return new Set(missing)
  throw errors.optionError(
    TypeError,
    'registry',
    registry,
    `registry already has a metric '${foreign}' that this copy of flakeforge did not register. Pass another registry, such as ` +
      'new client.Registry(), or make sure that your program loads one copy of flakeforge only (npm ls flakeforge)',
  )
}

function register(client: Client, registry: Registry, family: Family) {
  const { type, help, labels: labelNames, aggregator } = family
  const Metric = type === 'counter' ? client.Counter : client.Gauge
  const put = type === 'counter' ? 'inc' : 'set'
  return new Metric({
    name: nameOf(family),
    help,
    labelNames,
    aggregator,
    registers: [registry],
    collect(this: Metric) {
      this.reset() // values that no longer exist must disappear, and a counter can only be set from 0
      for (const { labels, value } of family.read(present())) this[put](labels, value)
    },
  })
}

function registerDuration(client: Client, registry: Registry, registered: Registered) {
  const { name, help, labels: labelNames, buckets } = DURATION
  const histogram: Histogram = new client.Histogram({ name, help, labelNames, buckets, registers: [registry] })
  registered.metrics.set(name, histogram)
  registered.observe = ({ group, seconds }) => histogram.observe({ group }, seconds)
  observers.add(registered.observe)
}

function readClient(given: unknown): Client {
  const client = given as Client
  const classes = [client?.Counter, client?.Gauge, client?.Histogram]
  if (classes.every((Class) => typeof Class === 'function') && isRegistry(client.register)) return client
  const wanted = "the module of a Prometheus client: require('@prometheus-io/client') or require('prom-client')"
  const hint = isRegistry(given) ? ' (this is a registry, which is the second argument)' : ''
  throw errors.optionTypeError('client', given, `${wanted}${hint}`)
}

function readRegistry(given: unknown): Registry {
  if (isRegistry(given)) return given
  throw errors.optionTypeError('registry', given, "a registry of the client's, such as new client.Registry()")
}

function isRegistry(given: unknown): given is Registry {
  const registry = given as Record<string, unknown> | undefined | null
  return typeof registry?.getSingleMetric === 'function' && typeof registry.registerMetric === 'function'
}
