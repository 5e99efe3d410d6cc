'use strict'
// @ts-check

// The metrics of the server, in a registry of its own: those of flakeforge and of Node, and how long each route's answers
// took. Labels are routes and statuses, never names or paths: nobody outside may add series.

const client = require('prom-client')
const { prometheusMetrics } = require('flakeforge/metrics')
const { DurationHistogram } = require('./durations.js')

class Measures {
  registry = new client.Registry()
  #durations = new DurationHistogram()

  /** @param {import('./waiting.js').Waiting} waiting */
  constructor(waiting) {
    const registers = [this.registry]
    client.collectDefaultMetrics({ register: this.registry })
    prometheusMetrics(client, this.registry)
    this.registry.registerMetric(/** @type {any} */ (this.#durations))
    new client.Gauge({
      name: 'flakeforge_http_requests_waiting',
      help: 'Requests that wait for IDs now.',
      registers,
      collect() {
        this.set(waiting.count)
      },
    })
  }

  /**
   * @param {string} method
   * @param {string} route
   * @param {number} status
   * @param {number} ms
   */
  answered(method, route, status, ms) {
    this.#durations.of(method, route, status).observe(ms / 1000)
  }
}

exports.Measures = Measures
