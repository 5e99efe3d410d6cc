// The histogram of answers is the text that prom-client writes for the same answers.

import { createRequire } from 'node:module'
import test from 'ava'
import client from 'prom-client'

const require = createRequire(import.meta.url)
const { Durations } = require('../../target/rooms/packages/server/lib/http/durations.js')

/** Below, on and above each bound, and far from all. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const SECONDS = [0, ...BUCKETS.flatMap((bound) => [bound * 0.999, bound, bound * 1.001]), 3600]
const LABELS = [
  ['POST', '/v1/ids/:name', 200],
  ['POST', '/v1/ids/:name', 503],
  ['GET', '/v1/ids/:name', 503],
  ['GET', '(none)', 404],
  ['GET', '/metrics', 200],
]

const lines = (text) => text.trim().split('\n').sort()

test('each answer is counted in its bucket, by method, route and status', async (t) => {
  const durations = new Durations()
  const oracle = new client.Histogram({
    name: 'flakeforge_http_request_duration_seconds',
    help: 'How long requests took until their answer was sent.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [],
  })
  const registry = new client.Registry()
  registry.registerMetric(oracle)
  t.deepEqual(lines(durations.text()), lines(await registry.metrics()), 'before the first answer')
  for (const [i, seconds] of SECONDS.entries()) {
    const [method, route, status] = LABELS[i % LABELS.length]
    durations.add(method, route, status, seconds)
    oracle.observe({ method, route, status }, seconds)
  }
  t.deepEqual(lines(durations.text()), lines(await registry.metrics()))
})
