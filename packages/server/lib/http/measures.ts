// The metrics of the server, in a separate registry: those of flakeforge and of Node, and the latency of each route. Labels
// are routes and statuses, never names or paths: clients must not be able to add series.

import { prometheusMetrics } from 'flakeforge/metrics'
import client from 'prom-client'
import { Recent } from '../recent.ts'
import { Durations } from './durations.ts'
import type { Waiting } from './waiting.ts'

/** Rendering takes longer than a hundred requests for IDs, and Prometheus asks far less often. */
const FRESH_MS = 1000

export class Measures {
  #registry = new client.Registry()
  /** A Buffer: answers that wait to be read share it. */
  #text = new Recent(FRESH_MS, async () => Buffer.from(`${await this.#registry.metrics()}\n${this.#durations.text()}`))
  #durations = new Durations()

  constructor(waiting: Waiting) {
    const registers = [this.#registry]
    client.collectDefaultMetrics({ register: this.#registry })
    prometheusMetrics(client, this.#registry)
    new client.Gauge({
      name: 'flakeforge_http_requests_waiting',
      help: 'Requests that wait for IDs now.',
      registers,
      collect() {
        this.set(waiting.count)
      },
    })
  }

  get contentType() {
    return this.#registry.contentType
  }

  /** In the text format of Prometheus. */
  text() {
    return this.#text.get()
  }

  answered(method: string, route: string, status: number, ms: number) {
    this.#durations.add(method, route, status, ms / 1000)
  }
}
