'use strict'
// @ts-check

// How long answers took, as a histogram for the registry of prom-client. The package's own hashes its labels at
// each observation, which is 6 % of what a request for one ID costs; this one keeps the counts of a label set in an array.
// It must never be given a label that somebody outside chooses.

const NAME = 'flakeforge_http_request_duration_seconds'
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The counts of one method, route and status. */
class Durations {
  #counts = new Float64Array(BUCKETS.length + 1) // the last one: longer than all
  #sum = 0

  /** @param {{ method: string, route: string, status: string }} labels */
  constructor(labels) {
    this.labels = labels
  }

  /** @param {number} seconds */
  observe(seconds) {
    let i = 0
    while (seconds > BUCKETS[i]) i++
    this.#counts[i]++
    this.#sum += seconds
  }

  /** As the registry writes them: buckets count what is in the smaller ones too. */
  values() {
    let count = 0
    const buckets = [...this.#counts].map((more, i) => {
      count += more
      return { metricName: `${NAME}_bucket`, labels: { ...this.labels, le: BUCKETS[i] ?? '+Inf' }, value: count }
    })
    const { labels } = this
    return [
      ...buckets,
      { metricName: `${NAME}_sum`, labels, value: this.#sum },
      { metricName: `${NAME}_count`, labels, value: count },
    ]
  }
}

/** A metric, as Registry.registerMetric() takes it. */
class DurationHistogram {
  name = NAME
  help = 'How long requests took until their answer was sent.'
  type = 'histogram'
  aggregator = 'sum'
  /** @type {Map<string, Map<string, Durations[]>>} by route, method and status: no key is put together per request */
  #known = new Map()

  /**
   * @param {string} method
   * @param {string} route
   * @param {number} status
   */
  of(method, route, status) {
    return this.#known.get(route)?.get(method)?.[status] ?? this.#add(method, route, status)
  }

  async get() {
    const all = [...this.#known.values()].flatMap((methods) => [...methods.values()])
    const { name, help, type, aggregator } = this
    // filter() leaves out the statuses that there were none of
    return {
      name,
      help,
      type,
      aggregator,
      values: all.flatMap((statuses) => statuses.filter(Boolean)).flatMap((each) => each.values()),
    }
  }

  reset() {
    this.#known.clear()
  }

  /**
   * @param {string} method
   * @param {string} route
   * @param {number} status
   */
  #add(method, route, status) {
    const methods = this.#known.get(route) ?? new Map()
    const statuses = methods.get(method) ?? []
    statuses[status] = new Durations({ method, route, status: String(status) })
    this.#known.set(route, methods.set(method, statuses))
    return statuses[status]
  }
}

exports.DurationHistogram = DurationHistogram
