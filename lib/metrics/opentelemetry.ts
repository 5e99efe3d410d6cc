// The metrics for an OpenTelemetry meter: instruments that are observed when the SDK collects, and one histogram. They have
// Prometheus' names, without the `_total` that its exporters add to counters, so that one dashboard and one set of alerts
// serves both. A meter is observed once and not kept alive.

import * as errors from '../base/errors.ts'
import { type Observer, observers } from '../lease/counts-for-metrics.ts'
import { DURATION, FAMILIES, snapshot } from './families.ts'

export type Make = (name: string, options: object) => object

export type Result = { observe(instrument: object, value: number, attributes: object): void }

interface Meter {
  createObservableCounter: Make
  createObservableGauge: Make
  createHistogram: (name: string, options: object) => { record(value: number, attributes: object): void }
  addBatchObservableCallback: (callback: (result: Result) => void, instruments: object[]) => void
}

const CALLS = ['createObservableCounter', 'createObservableGauge', 'createHistogram', 'addBatchObservableCallback']

/** the observer of a meter lives as long as it does */
const observed: WeakMap<Meter, Observer> = new WeakMap()

/**
 * The same metrics as instruments of an OpenTelemetry meter, observed when the SDK collects. They have the same names, but
 * counters lack the `_total` that exporters to Prometheus add, so one dashboard serves both. The labels are attributes.
 *
 * Calling it again for the same meter does nothing.
 *
 * @param meter from `metrics.getMeter(name)` of `@opentelemetry/api`, or of a `MeterProvider`
 * @throws {TypeError} `ERR_FLAKE_OPTION`: the argument is not a meter.
 * @example
 * import { MeterProvider } from '@opentelemetry/sdk-metrics'
 * import { openTelemetryMetrics } from 'flakeforge/metrics'
 * const provider = new MeterProvider({ readers: [] })
 * openTelemetryMetrics(provider.getMeter('flakeforge'))
 */
export function openTelemetryMetrics(meter: unknown): void
export function openTelemetryMetrics(given: unknown) {
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

/** @param instruments in the order of FAMILIES */
function observeAll(result: Result, instruments: object[]) {
  const present = snapshot()
  for (const [i, { read }] of FAMILIES.entries()) {
    for (const { labels, value } of read(present)) result.observe(instruments[i], value, labels)
  }
}

function observerOf(meter: Meter): Observer {
  const { name, help: description, unit, buckets } = DURATION
  const histogram = meter.createHistogram(name, { description, unit, advice: { explicitBucketBoundaries: buckets } })
  return ({ group, seconds }) => histogram.record(seconds, { group })
}

function readMeter(given: unknown): Meter {
  const meter = given as Record<string, unknown> | undefined | null
  if (CALLS.every((call) => typeof meter?.[call] === 'function')) return given as any
  const hint = typeof meter?.getMeter === 'function' ? ' (this is its provider)' : ''
  const wanted = `a Meter of OpenTelemetry, such as metrics.getMeter('flakeforge') of '@opentelemetry/api'${hint}`
  throw errors.optionTypeError('meter', given, wanted)
}
