// The metrics of the server, in a separate registry: those of flakeforge and of Node, and the latency of each route. Labels
// are routes and statuses, never names or paths: clients must not be able to add series.

import { prometheusMetrics } from 'flakeforge/metrics'
import client from 'prom-client'
import type { Waiting } from './waiting.ts'

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class Measures {
  registry = new client.Registry()
  #durations = new client.Histogram({
    name: 'flakeforge_http_request_duration_seconds',
    help: 'How long requests took until their answer was sent.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [this.registry],
  })

  constructor(waiting: Waiting) {
    const registers = [this.registry]
    client.collectDefaultMetrics({ register: this.registry })
    prometheusMetrics(client, this.registry)
    new client.Gauge({
      name: 'flakeforge_http_requests_waiting',
      help: 'Requests that wait for IDs now.',
      registers,
      collect() {
        this.set(waiting.count)
      },
    })
  }

  answered(method: string, route: string, status: number, ms: number) {
    this.#durations.observe({ method, route, status }, ms / 1000)
  }
}
