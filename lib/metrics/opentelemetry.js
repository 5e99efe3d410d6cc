'use strict'
// @ts-check

// The metrics for an OpenTelemetry meter: instruments that are observed when the SDK collects, and one histogram.
//
// They have the names that Prometheus shows, without the `_total` that its exporters add to counters, so that one
// dashboard and one set of alerts serves both. It must never observe twice for one meter, nor keep a meter alive.

const { errors } = require('../base/check.js')
const { observers } = require('../lease/census.js')
const { DURATION, FAMILIES, snapshot } = require('./families.js')

/**
 * @import { Observer } from '../lease/census.js'
 *
 * What we use of a meter.
 * @typedef {(name: string, options: object) => object} Make
 * @typedef {{ observe(instrument: object, value: number, attributes: object): void }} Result
 * @typedef {object} Meter
 * @property {Make} createObservableCounter
 * @property {Make} createObservableGauge
 * @property {(name: string, options: object) => { record(value: number, attributes: object): void }} createHistogram
 * @property {(callback: (result: Result) => void, instruments: object[]) => void} addBatchObservableCallback
 */

const CALLS = ['createObservableCounter', 'createObservableGauge', 'createHistogram', 'addBatchObservableCallback']

/** @type {WeakMap<Meter, Observer>} the observer of a meter lives as long as it does */
const observed = new WeakMap()

/** @param {unknown} given */
function openTelemetryMetrics(given) {
  const meter = readMeter(given)
  if (observed.has(meter)) return
  const instruments = FAMILIES.map(({ name, type, help: description, unit }) =>
    type === 'counter'
      ? meter.createObservableCounter(name, { description, unit })
      : meter.createObservableGauge(name, { description, unit }),
  )
  meter.addBatchObservableCallback((result) => observeAll(result, instruments), instruments)
  const observe = observerOf(meter)
  observed.set(meter, observe)
  observers.add(observe)
}

/**
 * @param {Result} result
 * @param {object[]} instruments in the order of FAMILIES
 */
function observeAll(result, instruments) {
  const present = snapshot()
  for (const [i, { read }] of FAMILIES.entries()) {
    for (const { labels, value } of read(present)) result.observe(instruments[i], value, labels)
  }
}

/**
 * @param {Meter} meter
 * @returns {Observer}
 */
function observerOf(meter) {
  const { name, help: description, unit, buckets } = DURATION
  const histogram = meter.createHistogram(name, { description, unit, advice: { explicitBucketBoundaries: buckets } })
  return ({ group, seconds }) => histogram.record(seconds, { group })
}

/**
 * @param {unknown} given
 * @returns {Meter}
 */
function readMeter(given) {
  const meter = /** @type {Record<string, unknown> | undefined | null} */ (given)
  if (CALLS.every((call) => typeof meter?.[call] === 'function')) return /** @type {any} */ (given)
  const hint = typeof meter?.getMeter === 'function' ? ' (this is its provider)' : ''
  const wanted = `a Meter of OpenTelemetry, such as metrics.getMeter('flakeforge') of '@opentelemetry/api'${hint}`
  throw errors().optionTypeError('meter', given, wanted)
}

exports.openTelemetryMetrics = openTelemetryMetrics
