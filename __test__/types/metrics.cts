// flakeforge/metrics in CommonJS. Compiled, and run.

import assert = require('node:assert')
import channels = require('node:diagnostics_channel')
import metrics = require('flakeforge/metrics')

const { prometheusMetrics, openTelemetryMetrics } = metrics
assert.throws(() => prometheusMetrics({}), { code: 'ERR_FLAKE_OPTION' })
assert.throws(() => openTelemetryMetrics(undefined), { code: 'ERR_FLAKE_OPTION' })

// Newer types of Node name what a trace has first, older ones last.
const renew: channels.TracingChannel<metrics.LeaseTrace, metrics.LeaseTrace> =
  channels.tracingChannel('flakeforge:lease.renew')
const ignore = () => {}
const asyncEnd = ({ group, slot, result, error }: metrics.LeaseTrace) => {
  const texts: Array<string | undefined> = [group, slot?.toFixed(), result, error?.code]
  return texts
}
renew.subscribe({ start: ignore, end: ignore, asyncStart: ignore, asyncEnd, error: ignore })

/** What must not compile. It is never called. */
export function mistakes(trace: metrics.LeaseTrace): void {
  // @ts-expect-error: a client is needed
  prometheusMetrics()
  // @ts-expect-error: the owner is a secret
  void trace.owner
}

console.log('metrics.cts is right')
