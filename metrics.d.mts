// The ES twin of metrics.d.ts, for metrics.mjs.

export { ClockStepMessage, LeaseStateMessage, LeaseTrace, openTelemetryMetrics, prometheusMetrics } from './metrics.js'
