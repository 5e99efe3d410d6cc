// The lists of docs/reference/options.md are complete: every option of the public types and every environment variable that
// the sources read, with the defaults of the code.

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'

const require = createRequire(import.meta.url)
const rooms = '../../target/rooms/lib'
const { GENERAL, OF_LEASE, OF_NODE } = require(`${rooms}/generator/options.js`)
const { DEFAULTS, KEYS } = require(`${rooms}/remote/options.js`)
const { BUDGET } = require(`${rooms}/stores/time-budget.js`)
const dialects = require(`${rooms}/codec/dialects.js`)

const root = path.join(import.meta.dirname, '..', '..')
const read = (name) => readFileSync(path.join(root, name), 'utf8')
const page = read('docs/reference/options.md')

/** The rows of a section's tables, as cells. */
function rowsOf(heading) {
  const [, text] = page.split(`\n## ${heading}\n`)
  const lines = text.split(/^## /m)[0].matchAll(/^\| (`.*) \|$/gm)
  return Array.from(lines, ([, cells]) => cells.split(' | '))
}

const inCode = (cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name]) => name)
const namesIn = (heading, column = 0) => rowsOf(heading).flatMap((cells) => inCode(cells[column]))
const defaultOf = (heading, name) => rowsOf(heading).find(([cell]) => inCode(cell).includes(name))[2]

/** The names of the options in a type of the public declarations. */
function optionsOf(file, begin) {
  const [, text] = read(file).split(begin)
  const body = text.slice(text.indexOf('{') + 1)
  const indent = /\n( +)\S/.exec(body)[1]
  const end = body.search(new RegExp(`\\n {0,${indent.length - 2}}\\}`))
  return Array.from(body.slice(0, end).matchAll(new RegExp(`^${indent}(\\w+)\\??: `, 'gm')), ([, name]) => name)
}

const sorted = (names) => [...new Set(names)].sort()

const TABLES = {
  'Every generator': GENERAL,
  '`new FlakeId()`': [...OF_NODE, 'datacenter', 'worker'],
  '`FlakeId.join()`': optionsOf('index.d.ts', 'interface LeaseOptions '),
  '`SegmentId.open()`': optionsOf('lease.d.ts', /static open\([^{]*/),
  '`RemoteFlakeId.connect()`': optionsOf('remote.d.ts', 'interface RemoteOptions '),
  '`new Seal()`': optionsOf('index.d.ts', /interface SealOptions[^{]*/),
  '`idType()`': optionsOf('index.d.ts', /interface IdTypeOptions[^{]*/),
  '`new Layout()`': optionsOf('index.d.ts', 'interface LayoutSpec ').filter(
    (name) => !['nodes', 'mode'].includes(name),
  ),
}

for (const [heading, names] of Object.entries(TABLES))
  test(`options: ${heading}`, (t) => {
    t.deepEqual(sorted(namesIn(heading)), sorted(names))
    t.true(names.length > 1)
  })

test('options: those that join() and connect() check are those of the types', (t) => {
  t.deepEqual(sorted(OF_LEASE), sorted(TABLES['`FlakeId.join()`']))
  t.deepEqual(sorted([...KEYS, 'signal']), sorted(TABLES['`RemoteFlakeId.connect()`']))
})

test('options of calls and of stores', (t) => {
  const calls = namesIn('Calls', 1)
  const ofCalls = ['SignalOptions', 'IterationOptions', 'PrefixOptions', 'FormatOptions'].flatMap((name) =>
    optionsOf('index.d.ts', new RegExp(`interface ${name}[^{]*`)),
  )
  t.deepEqual(sorted(calls), sorted(ofCalls))
  const stores = namesIn('Stores', 1)
  const ofStores = [
    ...optionsOf('lease.d.ts', 'interface PostgresOptions '),
    ...optionsOf('lease.d.ts', 'interface MysqlOptions '),
    ...optionsOf('lease.d.ts', /function etcdStore\(options: /),
  ]
  t.deepEqual(sorted(stores.filter((name) => !name.startsWith("'"))), sorted(ofStores))
})

const grouped = (number) => number.toLocaleString('en')

test('defaults: times of join() and of connect()', (t) => {
  const join = { ttlMs: BUDGET.USUAL_TTL_MS, skewMs: BUDGET.USUAL_SKEW_MS, waitMs: BUDGET.USUAL_WAIT_MS }
  for (const [name, ms] of Object.entries(join)) t.is(defaultOf('`FlakeId.join()`', name).split(';')[0], grouped(ms))
  for (const [name, value] of Object.entries(DEFAULTS))
    t.is(defaultOf('`RemoteFlakeId.connect()`', name), grouped(value), name)
})

for (const name of ['maxAheadMs', 'maxWaitMs'])
  test(`defaults: ${name} of each layout`, (t) => {
    const [usual, ...others] = defaultOf('Every generator', name).split(/[;,] (?=[\dI])/)
    t.is(usual, '0')
    const shown = others.flatMap((text) => inCode(text).map((layout) => [layout, text.split(' for ')[0]]))
    const wanted = dialects
      .filter((dialect) => dialect[name])
      .map((dialect) => [
        dialect.name,
        dialect[name] === Number.POSITIVE_INFINITY ? 'Infinity' : grouped(dialect[name]),
      ])
    t.deepEqual(shown.sort(), wanted.sort())
  })

/** The sources of what users run. */
const sources = ['lib', 'bin', 'packages/server/lib']
  .flatMap((folder) => readdirSync(path.join(root, folder), { recursive: true }).map((name) => path.join(folder, name)))
  .filter((name) => name.endsWith('.ts') && !/[\\/](?:dist|node_modules)[\\/]/.test(name))

/** Those that our own tests set. */
const OF_TESTS = ['FLAKEFORGE_REQUIRE_SERVERS']

test('environment variables: all that the sources read', (t) => {
  const texts = sources.map((name) => read(name).replaceAll(/^ *\*.*$/gm, '')) // no examples in comments
  const named = texts.flatMap((text) => [
    ...Array.from(text.matchAll(/\bprocess\.env\.(\w+)/g), ([, name]) => name),
    ...Array.from(text.matchAll(/\{ (\w+)[^}]*\} = process\.env\b/g), ([, name]) => name),
  ])
  const [, signs] = /const VARIABLES = \[([^\]]+)\]/.exec(read('lib/stores/container.ts'))
  const ofContainers = Array.from(signs.matchAll(/'(\w+)'/g), ([, name]) => name)
  const ofFields = dialects
    .flatMap(({ fields = [], host }) => [...fields.map(([name]) => name), ...(host ? [host] : [])])
    .filter((name) => !['zero', 'timestamp', 'counter', 'mode'].includes(name))
    .map((name) => `FLAKEFORGE_${name.toUpperCase()}`)
  const wanted = [...named, ...ofContainers, ...ofFields].filter((name) => !OF_TESTS.includes(name))
  const shown = namesIn('Environment variables')
  t.deepEqual(
    sorted(wanted).filter((name) => !shown.includes(name)),
    [],
  )
  const all = [...texts, ...['python', 'go', 'java', 'curl'].flatMap(clientTexts)].join('\n')
  const unread = shown.filter((name) => !wanted.includes(name) && !OUTSIDE.includes(name) && !all.includes(name))
  t.deepEqual(unread, [])
  t.true(ofFields.length > 8 && ofContainers.length > 3)
})

/** Read by Node.js and by the system's own functions, and a prefix with its own table. */
const OUTSIDE = ['HOME', 'NO_COLOR', 'FLAKEFORGE_SERVER_…', 'PORT']

const clientTexts = (language) =>
  readdirSync(path.join(root, 'examples', 'clients', language), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath ?? entry.path, entry.name), 'utf8'))
