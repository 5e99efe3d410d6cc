// examples/observability is correct: both programs show the metrics, the dashboard and the alerts use only existing
// metrics and labels, and promtool accepts every expression.

import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { parse as parseYaml, stringify } from 'yaml'
import { freshFolder, wantProgram } from '../servers/server.mjs'
import { CLIENTS, registryOf, samplesIn } from '../support/metrics.mjs'
import { once } from '../support/waits.mjs'

const root = path.join(import.meta.dirname, '..', '..')
const folder = path.join(root, 'examples', 'observability')
const read = (name) => readFileSync(path.join(folder, name), 'utf8')
const dashboard = JSON.parse(read('dashboard.json'))
const alerts = parseYaml(read('alerts.yaml')).groups.flatMap(({ rules }) => rules)
const promtool = wantProgram('promtool')
const promtoolTest = promtool === undefined ? test.skip : test

const panels = dashboard.panels.filter(({ type }) => type !== 'row')
const targets = panels.flatMap(({ targets }) => targets)
const variables = dashboard.templating.list

/** Every metric with its labels, under each name that Prometheus shows for it. */
function metricsThatExist() {
  const exist = new Map()
  for (const { name, type, labelNames } of registryOf(CLIENTS['prom-client']).registry.getMetricsAsArray()) {
    if (type !== 'histogram') exist.set(name, labelNames)
    else for (const part of ['bucket', 'count', 'sum']) exist.set(`${name}_${part}`, [...labelNames, 'le'])
  }
  return exist
}

const OF_EVERY_TARGET = ['job', 'instance']

/** Unknown names in an expression: metrics, and labels that no metric in it has. */
function unknownIn(expr) {
  const exist = metricsThatExist()
  const names = expr.match(/\bflakeforge_\w+/g) ?? []
  const known = new Set([...OF_EVERY_TARGET, ...names.flatMap((name) => exist.get(name) ?? [])])
  const matched = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, list]) => list.match(/\w+(?=\s*=)/g) ?? [])
  const grouped = [...expr.matchAll(/\b(?:by|without) \(([^)]*)\)/g)].flatMap(([, list]) => list.split(', '))
  return [...names.filter((name) => !exist.has(name)), ...[...matched, ...grouped].filter((label) => !known.has(label))]
}

test('an unknown metric or label is found', (t) => {
  t.deepEqual(unknownIn('sum by (layout) (rate(flakeforge_ids_total{job="a"}[5m]))'), [])
  t.deepEqual(unknownIn('flakeforge_ids'), ['flakeforge_ids'])
  t.deepEqual(unknownIn('sum by (slot) (flakeforge_ids_total{state="x"})'), ['state', 'slot'])
})

test('the dashboard uses only existing metrics and labels, and every metric', (t) => {
  for (const { expr } of targets) t.deepEqual(unknownIn(expr), [], expr)
  for (const { definition } of variables.filter(({ type }) => type === 'query')) t.deepEqual(unknownIn(definition), [])
  const asked = targets.map(({ expr }) => expr).join('\n')
  const parts = [...metricsThatExist().keys()].filter((name) => !/_(count|sum)$/.test(name)) // the buckets are enough
  t.deepEqual(
    parts.filter((name) => !asked.includes(name)),
    [],
  )
})

test('the alerts use only existing metrics and labels', (t) => {
  t.is(alerts.length, 6)
  for (const { expr } of alerts) t.deepEqual(unknownIn(expr), [], expr)
})

test('the dashboard has the form that Grafana expects: IDs, places, data sources, variables', (t) => {
  t.true(dashboard.schemaVersion >= 38, 'that of Grafana 10')
  t.is(dashboard.id, undefined, 'Grafana assigns one')
  const ids = dashboard.panels.map(({ id }) => id)
  t.is(new Set(ids).size, ids.length)
  for (const { title, type, description, datasource, targets } of panels) {
    t.true(['timeseries', 'stat', 'table'].includes(type), title)
    t.true(description.length > 0, title)
    for (const each of [{ datasource }, ...targets])
      t.deepEqual(each.datasource, { type: 'prometheus', uid: `\${datasource}` }, title)
    t.is(new Set(targets.map(({ refId }) => refId)).size, targets.length, title)
  }
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
  )
  t.is(new Set(cells).size, cells.length, 'no panel overlaps another')
  t.true(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24))
  const used = [...JSON.stringify(dashboard).matchAll(/\$\{?(\w+)/g)].map(([, name]) => name)
  const own = new Set(variables.map(({ name }) => name))
  t.deepEqual(
    [...new Set(used)].filter((name) => !own.has(name) && !name.startsWith('__')),
    [],
  )
  t.deepEqual(
    [...own].filter((name) => !used.includes(name)),
    [],
  )
})

promtoolTest('promtool: the alerts fire as their tests say', async (t) => {
  await t.notThrowsAsync(promisify(execFile)(promtool, ['check', 'rules', 'alerts.yaml'], { cwd: folder }))
  await t.notThrowsAsync(promisify(execFile)(promtool, ['test', 'rules', 'alerts.test.yaml'], { cwd: folder }))
})

promtoolTest('promtool: every expression of the dashboard is valid', async (t) => {
  const temp = await freshFolder('promtool')
  t.teardown(() => rm(temp, { recursive: true }))
  const plain = (expr) => expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*')
  const rules = targets.map(({ expr }, i) => ({ record: `panel:${i}`, expr: plain(expr) }))
  const file = path.join(temp, 'rules.yaml')
  await writeFile(file, stringify({ groups: [{ name: 'dashboard', rules }] }))
  await t.notThrowsAsync(promisify(execFile)(promtool, ['check', 'rules', file]))
})

/** Runs a program of the folder until it has shown its metrics. */
async function metricsOf(t, name) {
  const store = await freshFolder('observability')
  const env = { ...process.env, FLAKEFORGE_STORE: `file:${store}`, PORT: '0' }
  const child = spawn(process.execPath, [path.join(folder, name)], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
    await rm(store, { recursive: true })
  })
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
  const url = line.trim()
  const ids = await Promise.all([1, 2, 3].map(async () => (await fetch(new URL('/', url))).text()))
  t.is(new Set(ids).size, 3)
  const samples = samplesIn(await (await fetch(url)).text())
  child.kill('SIGTERM')
  t.deepEqual(await ended, [0, null])
  return samples
}

for (const name of ['prometheus.mjs', 'opentelemetry.mjs']) {
  test.serial(`${name}: an ID for each request, and /metrics counts them`, async (t) => {
    const samples = await metricsOf(t, name)
    const ids = samples.find((sample) => sample.name === 'flakeforge_ids_total' && sample.labels.group === 'orders')
    t.is(ids.value, 3)
    t.is(samples.find(({ labels }) => labels.state === 'attached').value, 1)
  })
}
