// flakeforge/metrics in an ES module. Compiled, and run.

import assert from 'node:assert'
import { subscribe, type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import {
  type ClockStepMessage,
  type LeaseStateMessage,
  type LeaseTrace,
  openTelemetryMetrics,
  prometheusMetrics,
} from 'flakeforge/metrics'

assert.throws(() => prometheusMetrics({}), { code: 'ERR_FLAKE_OPTION' })
assert.throws(() => openTelemetryMetrics(undefined), { code: 'ERR_FLAKE_OPTION' })

subscribe('flakeforge:clock.step', (message) => {
  const { layout, node, group, steps, behindMs } = message as ClockStepMessage
  const parts: Array<string | number | undefined> = [layout, node, group, steps, behindMs]
  void parts
})
subscribe('flakeforge:lease.state', (message) => {
  const { state, event, slot, cause } = message as LeaseStateMessage
  const isLost: boolean = state === 'detached' && event === 'lost' && slot !== undefined && cause !== undefined
  void isLost
})

// Newer types of Node.js name the trace first, older ones last.
const renew: TracingChannel<LeaseTrace, LeaseTrace> = tracingChannel('flakeforge:lease.renew')
const ignore = (): void => {}
const asyncEnd = ({ group, slot, result, error }: LeaseTrace): void => {
  const texts: Array<string | undefined> = [group, slot?.toFixed(), result, error?.code]
  void texts
}
renew.subscribe({ start: ignore, end: ignore, asyncStart: ignore, asyncEnd, error: ignore })

/** Code that must not compile. It is never called. */
export function mistakes(trace: LeaseTrace): void {
  // @ts-expect-error: a client is needed
  prometheusMetrics()
  // @ts-expect-error: the owner is a secret
  void trace.owner
}

console.log('metrics.mts is right')
