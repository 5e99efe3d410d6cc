// `flakeforge/metrics`: counts of generators, leases and counters, for Prometheus and OpenTelemetry.

/**
 * Counts of generators, leases and counters, for Prometheus and OpenTelemetry, and the messages of the diagnostics channels.
 *
 * @module
 */
export type { ClockStepMessage, LeaseStateMessage, LeaseTrace, StoreStateMessage } from '../base/channels.ts'
export { openTelemetryMetrics } from '../metrics/opentelemetry.ts'
export { prometheusMetrics } from '../metrics/prometheus.ts'
