'use strict'
// @ts-check

// The metrics for @prometheus-io/client and prom-client, with their public calls only. They read their values when the
// registry is collected.
//
// It must never register a metric twice, nor take the place of one that somebody else has registered, nor keep a
// registry alive.

const { errors, isAbsent } = require('../base/check.js')
const { observers } = require('../lease/census.js')
const { DURATION, FAMILIES, snapshot } = require('./families.js')

/**
 * @import { Family, Snapshot } from './families.js'
 * @import { Observer } from '../lease/census.js'
 *
 * What we use of the library.
 * @typedef {{ reset(): void, inc(labels: object, value: number): void, set(labels: object, value: number): void }} Metric
 * @typedef {{ observe(labels: object, value: number): void }} Histogram
 * @typedef {new <M>(config: object) => M} MetricClass
 * @typedef {{ getSingleMetric(name: string): unknown }} Registry
 * @typedef {{ Counter: MetricClass, Gauge: MetricClass, Histogram: MetricClass, register: Registry }} Client
 *
 * Our metrics in a registry, by name; the observer lives as long as they do.
 * @typedef {{ metrics: Map<string, unknown>, observe?: Observer }} Registered
 */

/** @type {WeakMap<Registry, Registered>} */
const registeredIn = new WeakMap()

/** @type {Snapshot | undefined} */
let latest // a registry asks all metrics in one go, before any promise goes on, and they all look at the same

function present() {
  if (latest === undefined) {
    latest = snapshot()
    Promise.resolve().then(() => {
      latest = undefined
    })
  }
  return latest
}

/**
 * @param {unknown} givenClient
 * @param {unknown} [givenRegistry]
 */
function prometheusMetrics(givenClient, givenRegistry) {
  const client = readClient(givenClient)
  const registry = isAbsent(givenRegistry) ? client.register : readRegistry(givenRegistry)
  const registered = registeredIn.get(registry) ?? { metrics: new Map() }
  const missing = namesMissing(registry, registered)
  for (const family of FAMILIES) {
    if (missing.has(nameOf(family))) registered.metrics.set(nameOf(family), register(client, registry, family))
  }
  if (missing.has(DURATION.name)) registerDuration(client, registry, registered)
  registeredIn.set(registry, registered)
}

/** @param {Family} family */
const nameOf = ({ name, type }) => (type === 'counter' ? `${name}_total` : name)

/**
 * Those of our names that are free in this registry.
 * @param {Registry} registry
 * @param {Registered} registered
 */
function namesMissing(registry, { metrics }) {
  const names = [...FAMILIES.map(nameOf), DURATION.name]
  const missing = names.filter((name) => registry.getSingleMetric(name) === undefined)
  const foreign = names.find((name) => !missing.includes(name) && registry.getSingleMetric(name) !== metrics.get(name))
  if (foreign === undefined) return new Set(missing)
  throw errors().optionError(
    TypeError,
    'registry',
    registry,
    `registry already has a metric '${foreign}' that this copy of flakeforge did not make. Pass another registry, such as ` +
      'new client.Registry(), or make sure that your program loads one copy of flakeforge only (npm ls flakeforge)',
  )
}

/**
 * @param {Client} client
 * @param {Registry} registry
 * @param {Family} family
 */
function register(client, registry, family) {
  const { type, help, labels: labelNames, aggregator } = family
  const Metric = type === 'counter' ? client.Counter : client.Gauge
  const put = type === 'counter' ? 'inc' : 'set'
  return new Metric({
    ...{ name: nameOf(family), help, labelNames, aggregator, registers: [registry] },
    /** @this {Metric} */
    collect() {
      this.reset() // what is no longer there must not be shown any more, and a counter can only be set from 0
      for (const { labels, value } of family.read(present())) this[put](labels, value)
    },
  })
}

/**
 * @param {Client} client
 * @param {Registry} registry
 * @param {Registered} registered
 */
function registerDuration(client, registry, registered) {
  const { name, help, labels: labelNames, buckets } = DURATION
  /** @type {Histogram} */
  const histogram = new client.Histogram({ name, help, labelNames, buckets, registers: [registry] })
  registered.metrics.set(name, histogram)
  registered.observe = ({ group, seconds }) => histogram.observe({ group }, seconds)
  observers.add(registered.observe)
}

/**
 * @param {unknown} given
 * @returns {Client}
 */
function readClient(given) {
  const client = /** @type {Client} */ (given)
  const classes = [client?.Counter, client?.Gauge, client?.Histogram]
  if (classes.every((Class) => typeof Class === 'function') && isRegistry(client.register)) return client
  const wanted = "the module of a Prometheus client: require('@prometheus-io/client') or require('prom-client')"
  const hint = isRegistry(given) ? ' (this is a registry, which is the second argument)' : ''
  throw errors().optionTypeError('client', given, `${wanted}${hint}`)
}

/**
 * @param {unknown} given
 * @returns {Registry}
 */
function readRegistry(given) {
  if (isRegistry(given)) return given
  throw errors().optionTypeError('registry', given, "a registry of the client's, such as new client.Registry()")
}

/**
 * @param {unknown} given
 * @returns {given is Registry}
 */
function isRegistry(given) {
  const registry = /** @type {Record<string, unknown> | undefined | null} */ (given)
  return typeof registry?.getSingleMetric === 'function' && typeof registry.registerMetric === 'function'
}

exports.prometheusMetrics = prometheusMetrics
