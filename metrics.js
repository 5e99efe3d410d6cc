'use strict'

// `flakeforge/metrics` for CommonJS. metrics.mjs is its ES twin, metrics.d.ts their types.

const { openTelemetryMetrics } = require('./lib/metrics/opentelemetry.js')
const { prometheusMetrics } = require('./lib/metrics/prometheus.js')

module.exports = { openTelemetryMetrics, prometheusMetrics }
