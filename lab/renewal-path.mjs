// What one renewal of a lease goes through, on a Redis and on a PostgreSQL that this starts: how many of our files and
// functions, how many calls, and how many crossings into Rust. It fails if there are more than the bars say. `--list` names
// them all.
//
// V8's precise coverage counts a function that waits once for each time that it continues, so the number of calls is an upper
// bound. Files and functions are exact.

import { once } from 'node:events'
import { Session } from 'node:inspector/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../__test__/servers/postgres.mjs'
import { startRedis } from '../__test__/servers/redis.mjs'

const require = createRequire(import.meta.url)
const ROOMS = path.join(import.meta.dirname, '..', 'target', 'rooms', 'lib')
const { createGroup, FlakeId } = require(path.join(ROOMS, 'entries', 'main.js'))
const native = require(path.join(ROOMS, 'native', 'index.js'))

/** How to start each server, and its bars. */
const SERVERS = {
  redis: { start: () => startRedis(), bars: { files: 22, functions: 90, crossings: 11 } },
  postgres: { start: () => startPostgres(), bars: { files: 25, functions: 136, crossings: 11 } },
}

/** By name: the crossings of the present renewal. */
const crossings = new Map()
const cross = (name) => crossings.set(name, (crossings.get(name) ?? 0) + 1)

/** Counts the calls of a method or a getter of the addon. */
function watch(owner, key, name) {
  const { configurable, get, value } = Object.getOwnPropertyDescriptor(owner, key)
  const method = get ?? value
  if (!configurable || typeof method !== 'function' || key === 'constructor') return
  const counted = function (...args) {
    cross(name)
    return method.apply(this, args)
  }
  Object.defineProperty(owner, key, { configurable, ...(get ? { get: counted } : { value: counted, writable: true }) })
}

function watchAddon() {
  for (const [name, exported] of Object.entries(native)) {
    for (const key of Object.getOwnPropertyNames(exported.prototype ?? {}))
      watch(exported.prototype, key, `${name}.${key}`)
  }
}

/** Our functions that ran, as `file function`, with how often. */
function ranOf({ result }) {
  const ran = []
  for (const { url, functions } of result) {
    const file = url.startsWith('file:') ? fileURLToPath(url) : url
    if (!file.startsWith(ROOMS)) continue
    for (const { functionName, ranges } of functions) {
      const [{ count, startOffset }] = ranges
      const isFunction = startOffset > 0 // the other one is the file as a whole
      if (isFunction && count > 0)
        ran.push({ file: path.relative(ROOMS, file), name: functionName || `at ${startOffset}`, count })
    }
  }
  return ran
}

/** The second renewal: by then all that is made once exists. */
async function renewalOn(url, session) {
  const options = { group: 'path', ttlMs: 3_000, skewMs: 500 }
  await createGroup(url, options)
  const flake = await FlakeId.join(url, options)
  await once(flake, 'renewed')
  await session.post('Profiler.takePreciseCoverage')
  crossings.clear()
  await once(flake, 'renewed')
  const ran = ranOf(await session.post('Profiler.takePreciseCoverage'))
  const crossed = new Map(crossings)
  await flake.close()
  return { ran, crossed }
}

const sum = (numbers) => [...numbers].reduce((total, number) => total + number, 0)

watchAddon()
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
for (const [name, { start, bars }] of Object.entries(SERVERS)) {
  const server = await start()
  try {
    const { ran, crossed } = await renewalOn(server.url, session)
    const found = {
      files: new Set(ran.map(({ file }) => file)).size,
      functions: ran.length,
      calls: sum(ran.map(({ count }) => count)),
      crossings: sum(crossed.values()),
    }
    for (const [what, number] of Object.entries(found)) {
      const isTooMuch = number > bars[what]
      if (isTooMuch) process.exitCode = 1
      console.log(`${name}: ${number} ${what}${isTooMuch ? `, but at most ${bars[what]} are allowed` : ''}`)
    }
    if (!process.argv.includes('--list')) continue
    for (const { file, name, count } of ran) console.log(`  ${file} ${name} ${count}`)
    for (const [name, count] of crossed) console.log(`  ${name} ${count}`)
  } finally {
    await server.stop()
  }
}
session.disconnect()
