// Written by `npm run dist` from lib/entries/metrics.ts.

/**
 * The context of the tracing channels `flakeforge:lease.acquire`, `flakeforge:lease.renew` and `flakeforge:lease.release`:
 * one call to the store. Node publishes it on `tracing:flakeforge:lease.renew:start`, `:end`, `:asyncStart`, `:asyncEnd` and,
 * if the call failed, `:error`. All of them get the same object.
 *
 * @example
 * import { tracingChannel } from 'node:diagnostics_channel'
 * tracingChannel('flakeforge:lease.renew').subscribe({
 *   start() {},
 *   end() {},
 *   asyncStart() {},
 *   asyncEnd({ group, slot, result }) { console.log(group, slot, result) },
 *   error({ group, error }) { console.error(group, error) },
 * })
 */
interface LeaseTrace {
  /** the group's name */
  group: string;
  /** the slot; for `acquire` it is set once the store has granted one */
  slot?: number | undefined;
  /**
   * how the call ended, from `asyncStart` on: 'granted' for `acquire`; 'renewed', 'lost' (another member has the slot) or
   * 'destroyed' (the group was destroyed) for `renew`; 'released' for `release`
   */
  result?: 'granted' | 'renewed' | 'lost' | 'destroyed' | 'released';
  /** why the call failed, with its `code`; on `error` and after it */
  error?: Error & {
    code: string;
  };
}
/**
 * The message of the channel `flakeforge:lease.state`: a lease is looking for a slot, has got one, or has lost it. Renewals do
 * not change the state; see `flakeforge:lease.renew`.
 */
interface LeaseStateMessage {
  /** the group's name */
  group: string;
  /** the slot; undefined if there never was one, and for `joining` */
  slot: number | undefined;
  /** the new state */
  state: 'attached' | 'detached' | 'destroyed';
  /**
   * the name of the event that the generator's listeners get. `joining`, which the listeners do not get, means that `join()`
   * or `attach()` has begun to look for a slot. After `lost`, the lease looks for a slot by itself.
   */
  event: 'joining' | 'attached' | 'lost' | 'detached' | 'destroyed';
  /** the reason; absent if the program asked for it */
  cause?: Error;
}
/**
 * The message of the channel `flakeforge:clock.step`: the system's clock was set back.
 *
 * It is published at once if the step made a call fail or wait. A step that affects no call, because IDs may run ahead
 * (`maxAheadMs`) or no ID was generated meanwhile, is noticed at the next wait for an ID, reading of `stats` or lease
 * renewal. Every generator that notices the step publishes a message, except one with a custom `clock`.
 */
interface ClockStepMessage {
  /** the layout's name */
  layout: string;
  /** the generator's node number */
  node: number;
  /** the group, if the node number is leased */
  group?: string;
  /**
   * how many steps this generator has noticed since its last message; 0 if the clock is behind an ID that another generator
   * of this node has generated
   */
  steps: number;
  /** how far the clock was behind the last ID when a call failed or had to wait, in ms; 0 if there was no such call */
  behindMs: number;
}
/**
 * The message of the channel `flakeforge:store.state`: one of several stores that form one, as with `quorumStore()`, does not
 * take part, or takes part again.
 */
interface StoreStateMessage {
  /** the store's label: its address without user, password and options, or the given name */
  store: string;
  /** true if the store does not take part */
  isAway: boolean;
  /** why the store does not take part */
  cause?: unknown;
}
/**
 * The same metrics as instruments of an OpenTelemetry meter, observed when the SDK collects. They have the same names, but
 * counters lack the `_total` that exporters to Prometheus add, so one dashboard serves both. The labels are attributes.
 *
 * Calling it again for the same meter does nothing.
 *
 * @param meter from `metrics.getMeter(name)` of `@opentelemetry/api`, or of a `MeterProvider`
 * @throws {TypeError} `ERR_FLAKE_OPTION`: the argument is not a meter.
 * @example
 * import { MeterProvider } from '@opentelemetry/sdk-metrics'
 * import { openTelemetryMetrics } from 'flakeforge/metrics'
 * const provider = new MeterProvider({ readers: [] })
 * openTelemetryMetrics(provider.getMeter('flakeforge'))
 */
declare function openTelemetryMetrics(meter: unknown): void;
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
declare function prometheusMetrics(client: unknown, registry?: unknown): void;
export {
  ClockStepMessage,
  LeaseStateMessage,
  LeaseTrace,
  StoreStateMessage,
  openTelemetryMetrics,
  prometheusMetrics,
};
