// Shared by the tests of metrics: both Prometheus clients, and their text, parsed by our own rules.

import { createRequire } from 'node:module'
import { turn } from './index.mjs'

const require = createRequire(import.meta.url)

export const metrics = require('flakeforge/metrics')

/** The available clients, each with its registry class. */
export const CLIENTS = {
  '@prometheus-io/client': require('@prometheus-io/client'),
  'prom-client': require('prom-client'),
}

/** A sample's line: name, labels, value. */
const SAMPLE = /^(?<name>\w+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

const unescaped = (text) => text.replaceAll(/\\(.)/g, (_, char) => (char === 'n' ? '\n' : char))

/** The samples of Prometheus's text format; each line must be a comment or a sample. */
export function samplesIn(text) {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const { name, labels = '', value } = SAMPLE.exec(line).groups
    const pairs = [...labels.matchAll(LABEL)].map(([, label, text]) => [label, unescaped(text)])
    return { name, labels: Object.fromEntries(pairs), value: Number(value.replace('Inf', 'Infinity')) }
  })
}

/** Name and type of each metric of the text. */
export const typesIn = (text) =>
  Object.fromEntries([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]))

/** A registry with our metrics, and `value(name, labels)`, which collects it: undefined if there is no such sample. */
export function registryOf(client) {
  const registry = new client.Registry()
  metrics.prometheusMetrics(client, registry)
  const samples = async () => samplesIn(await registry.metrics())
  const value = async (name, labels = {}) => {
    const wanted = JSON.stringify(Object.entries(labels).sort())
    const found = (await samples()).filter(
      (sample) => sample.name === name && JSON.stringify(Object.entries(sample.labels).sort()) === wanted,
    )
    if (found.length > 1) throw new Error(`${name} ${wanted} is there ${found.length} times`)
    return found[0]?.value
  }
  return { registry, samples, value }
}

/** Collects garbage and lets finalizers run, until the condition holds. */
export async function untilCollected(isTrue) {
  require('node:v8').setFlagsFromString('--expose-gc')
  const gc = require('node:vm').runInNewContext('gc')
  do {
    await turn() // an inspected object lives until then
    gc()
    await turn()
  } while (!isTrue())
}
