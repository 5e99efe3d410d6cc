// flakeforge/metrics in an ES module. Compiled, and run.

import assert from 'node:assert'
import { subscribe } from 'node:diagnostics_channel'
import {
  type ClockStepMessage,
  type LeaseStateMessage,
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

console.log('metrics.mts is right')
