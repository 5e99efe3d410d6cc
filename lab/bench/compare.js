'use strict'

// `node lab/bench/compare.js`: how ID generators behave in difficult situations. Each package is run to find out. It prints the
// table of docs/start/comparison.md; with --write, it writes the table there. uniku is run if it is installed in target/peers.

const fs = require('node:fs')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads')

const ROOT = path.join(__dirname, '..', '..')
const PAGE = path.join(ROOT, 'docs', 'start', 'comparison.md')
const UNIKU = path.join(ROOT, 'target', 'peers', 'node_modules', 'uniku')

/** How each package creates a generator for node 5 (or another), and one ID as a bigint. */
const PACKAGES = {
  flakeforge: async () => {
    const FlakeId = require('../..')
    return (node = 5, options = {}) => {
      const generator = new FlakeId({ id: node, ...options })
      return () => generator.nextBigInt()
    }
  },
  'flake-idgen': async () => {
    const FlakeIdgen = require('flake-idgen')
    return (node = 5) => {
      const generator = new FlakeIdgen({ id: node })
      return () => generator.next().readBigUInt64BE()
    }
  },
  '@sapphire/snowflake': async () => {
    const { Snowflake } = require('@sapphire/snowflake')
    return (node = 5) => {
      const generator = new Snowflake(0)
      generator.workerId = node
      return () => generator.generate()
    }
  },
  'snowflake-uuid': async () => {
    const { Worker: SnowflakeUuid } = require('snowflake-uuid')
    return (node = 5) => {
      const generator = new SnowflakeUuid(node, 1)
      return () => generator.nextId()
    }
  },
  uniku: async () => {
    const { tsid } = await import(pathToFileURL(path.join(UNIKU, 'build', 'tsid', 'tsid.mjs')).href)
    return (node = 5) =>
      () =>
        tsid({ node })
  },
}

/** The package.json of a package; undefined if it is not installed. */
function manifestOf(name) {
  const file =
    name === 'uniku' ? path.join(UNIKU, 'package.json') : path.join(ROOT, 'node_modules', name, 'package.json')
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined
}

/** The heading of a package's column: its name and version, and for ours the name alone. */
const headingOf = (name) => (name === 'flakeforge' ? name : `${name} ${manifestOf(name).version}`)
const installed = () => Object.keys(PACKAGES).filter((name) => name === 'flakeforge' || manifestOf(name) !== undefined)

/** Makes all the calls. Returns the IDs and the last error thrown. */
function collect(calls) {
  const ids = []
  let error
  for (const call of calls) {
    try {
      ids.push(call())
    } catch (thrown) {
      error = thrown
    }
  }
  return { ids, error }
}

const repeated = (call, n) => Array.from({ length: n }, () => call)
const duplicates = (ids) => ids.length - new Set(ids).size

/** A number of duplicates, or what else happened. */
function verdict({ ids, error }) {
  const count = duplicates(ids)
  if (count > 0) return count
  return error === undefined ? 'no duplicates' : 'no duplicates; it throws'
}

function freshMillisecond() {
  const now = Date.now()
  while (Date.now() === now);
}

const CHECKS = {
  '2 generators with one node number, 2,000 IDs': (make) => {
    const [a, b] = [make(), make()]
    freshMillisecond()
    return verdict(collect(Array.from({ length: 2000 }, (_, i) => (i % 2 ? a : b))))
  },
  'a generator for each of 200 IDs': (make) => {
    freshMillisecond()
    return verdict(collect(Array.from({ length: 200 }, () => () => make()())))
  },
  '4 worker threads with one node number, 8,000 IDs': async (_make, name) => {
    // All start in the same millisecond, like requests that one event triggered.
    const at = Date.now() + 1000
    const threads = Array.from({ length: 4 }, () => new Worker(__filename, { workerData: { name, at } }))
    const batches = await Promise.all(threads.map((thread) => new Promise((done) => thread.once('message', done))))
    return verdict({ ids: batches.flat() })
  },
  '20,000 IDs as fast as it can': (make) => {
    const call = make()
    freshMillisecond()
    return verdict(collect(repeated(call, 20_000)))
  },
  'the clock steps back 5 ms, then continues': (make, name) => {
    const real = Date.now
    let now = real()
    const call = name === 'flakeforge' ? make(6, { clock: () => now }) : make(6)
    Date.now = () => now
    try {
      const steps = [0, -5, 1, 1, 1, 1, 1, 1]
      const results = steps.map((step) => {
        now += step
        return collect(repeated(call, 10))
      })
      return verdict({ ids: results.flatMap((r) => r.ids), error: results.find((r) => r.error)?.error })
    } finally {
      Date.now = real
    }
  },
  'node number 1029, where 1023 is the last': (make) => {
    const nodeBits = (id) => id & (1023n << 12n)
    try {
      const isNode5 = nodeBits(make(1029)()) === nodeBits(make(5)())
      return isNode5 ? 'becomes 5' : 'taken'
    } catch {
      return 'refused'
    }
  },
}

/** Rounds of each check: a result that differs from round to round depends on timing. */
const ROUNDS = 5

const number = (value) => value.toLocaleString('en-US')

/** What the rounds of a check have in common: a number of duplicates, their range, or words. */
function cell(results) {
  const counts = results.map((result) => (typeof result === 'number' ? result : 0))
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  if (most === 0) return [...new Set(results)].join(' or ')
  return least === most ? `${number(most)} duplicates` : `${number(least)} to ${number(most)} duplicates`
}

async function rowOf(check, names) {
  const cells = []
  for (const name of names) {
    const make = await PACKAGES[name]()
    const results = []
    for (let round = 1; round <= ROUNDS; round++) results.push(await CHECKS[check](make, name))
    cells.push(cell(results))
  }
  return [check, ...cells]
}

async function table() {
  const names = installed()
  const rows = [['', ...names.map(headingOf)], ['', ...names].map(() => '---')]
  for (const check of Object.keys(CHECKS)) rows.push(await rowOf(check, names))
  return rows.map((cells) => `| ${cells.join(' | ')} |`.replace('|  |', '| |')).join('\n')
}

/** The part of the page that this program writes. */
const WRITTEN = /(?<=<!-- duplicates -->\n\n).*?(?=\n\n<!-- \/duplicates -->)/s

async function main(isWritten) {
  const text = await table()
  if (!isWritten) return console.log(text)
  if (!installed().includes('uniku'))
    throw new Error('uniku is missing: see lab/bench/README.md, which says how to install it')
  fs.writeFileSync(
    PAGE,
    fs.readFileSync(PAGE, 'utf8').replace(WRITTEN, () => text),
  )
}

/** The IDs of a worker thread, for the main thread. */
async function work({ name, at }) {
  const call = (await PACKAGES[name]())()
  call() // the first call also compiles, and takes longer than the rest
  while (Date.now() < at);
  parentPort.postMessage(collect(repeated(call, 2000)).ids)
}

if (!isMainThread) work(workerData)
else if (require.main === module) main(process.argv.includes('--write'))

module.exports = { CHECKS, headingOf, PACKAGES, PAGE, WRITTEN }
