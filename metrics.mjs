// The ES twin of metrics.js.

import metrics from './metrics.js'

export const { openTelemetryMetrics, prometheusMetrics } = metrics
