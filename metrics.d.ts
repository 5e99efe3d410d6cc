// The types of `flakeforge/metrics`, and its reference. metrics.d.mts is its ES twin.

/**
 * What generators, leases and counters do, for Prometheus and OpenTelemetry, and the messages of the diagnostics channels.
 *
 * @module
 */
export { ClockStepMessage, LeaseStateMessage, LeaseTrace } from './types/diagnostics.js'

/**
 * Registers flakeforge's metrics with a Prometheus client. Their values are read when the registry is collected; making
 * an ID costs nothing more than before. They count from the start of the thread, generators that are gone included.
 *
 * | metric | type | labels | |
 * |---|---|---|---|
 * | `flakeforge_ids_total` | counter | layout, group | IDs made |
 * | `flakeforge_overflows_total` | counter | layout, group | attempts that found the counter of a tick used up |
 * | `flakeforge_clock_steps_total` | counter | layout, group | how often a generator saw the clock step back |
 * | `flakeforge_waits_total` | counter | layout, group | waits for an ID |
 * | `flakeforge_wait_seconds_total` | counter | layout, group | how long they took together |
 * | `flakeforge_ahead_seconds` | gauge | layout, group | how far the last ID is ahead of the clock, at most |
 * | `flakeforge_lease_window_remaining_seconds` | gauge | group | how long IDs can be made without a renewal, at least; 0 without a slot. Not for slots in files, which need no renewal |
 * | `flakeforge_lease_state` | gauge | group, state | how many leases are `attached`, `detached`, `destroyed` |
 * | `flakeforge_lease_slot_info` | gauge | group, slot | always 1, for each slot that is held now |
 * | `flakeforge_lease_renewals_total` | counter | group, result | renewals: `renewed`, `lost`, `destroyed`, `failed` |
 * | `flakeforge_lease_renew_duration_seconds` | histogram | group | how long the store took to answer them; counts from this call on |
 * | `flakeforge_segment_remaining` | gauge | segment | IDs that members of a counter still hold |
 * | `flakeforge_layout_end_timestamp_seconds` | gauge | layout, column | Unix time from which on IDs do not fit an `unsigned` 64-bit column (and none are made), or a `signed` one |
 *
 * `group` is missing where the node number is not leased. Closed leases and counters are not shown.
 *
 * Counts are those of this thread. A worker thread has its own registry; the client's `WorkerRegistry` joins them, as
 * `ClusterRegistry` does for the processes of a cluster.
 *
 * Calling it again for the same registry does nothing; after `registry.clear()` it registers them again. Several registries
 * can have them.
 *
 * @param client the module: `require('@prometheus-io/client')`, or `require('prom-client')` from version 14 on
 * @param registry default `client.register`
 * @throws {TypeError} `ERR_FLAKE_OPTION`: it is no such module or registry, or the registry has a metric of one of these
 * names from somebody else.
 * @example
 * import client from 'prom-client'
 * import { prometheusMetrics } from 'flakeforge/metrics'
 * prometheusMetrics(client)
 * console.log(await client.register.metrics())
 */
export function prometheusMetrics(client: unknown, registry?: unknown): void

/**
 * The same metrics as instruments of an OpenTelemetry meter, observed when the SDK collects. They have the same names,
 * but counters without `_total`, which exporters to Prometheus add; so one dashboard serves both. The labels are
 * attributes.
 *
 * Calling it again for the same meter does nothing.
 *
 * @param meter from `metrics.getMeter(name)` of `@opentelemetry/api`, or of a `MeterProvider`
 * @throws {TypeError} `ERR_FLAKE_OPTION`: it is no meter.
 * @example
 * import { MeterProvider } from '@opentelemetry/sdk-metrics'
 * import { openTelemetryMetrics } from 'flakeforge/metrics'
 * const provider = new MeterProvider({ readers: [] })
 * openTelemetryMetrics(provider.getMeter('flakeforge'))
 */
export function openTelemetryMetrics(meter: unknown): void
