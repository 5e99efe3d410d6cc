// What many cost, where one costs nearly nothing: generators of one process, calls that wait, members that join at once. Time and
// memory of all together; there are no bars, because no document promises such a figure.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '../../__test__/servers/postgres.mjs'
import { startRedis } from '../../__test__/servers/redis.mjs'
import { freshFolder } from '../../__test__/servers/server.mjs'
import report from './report.js'

const { median, ofProcess, ROUNDS } = report

const GENERATORS = [1, 100, 10_000]
const CALLS = 1_000_000
const MEMBERS = [100, 1_000]

/** A folder that only one process uses. */
async function withFolder(measure) {
  const folder = await freshFolder('bench')
  try {
    return await measure(`file:${join(folder, 'slots')}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A server of its own, without data. */
const withServer = (start) => async (measure) => {
  const server = await start()
  try {
    return await measure(server.url)
  } finally {
    await server.stop()
  }
}

const withRedis = withServer(startRedis)
const withPostgres = withServer(startPostgres)

/** Two Redis and a third server, which are one store. */
const withTwoAnd = (withThird) => (measure) =>
  withRedis((one) => withRedis((other) => withThird((third) => measure([one, other, third].join(' ')))))

const withNothing = (measure) => measure()

/** The rows: what is made, how many, and where. */
const ROWS = [
  ...GENERATORS.map((count) => ['generators', count, withNothing]),
  ['next(callback)', CALLS, withNothing],
  ['next(callback), flake-idgen', CALLS, withNothing],
  ...MEMBERS.map((count) => ['members', count, withFolder, 'a folder']),
  ...MEMBERS.map((count) => ['members', count, withRedis, 'Redis']),
  ['members', MEMBERS[0], withTwoAnd(withRedis), 'three Redis'],
  ['members', MEMBERS[0], withTwoAnd(withPostgres), 'two Redis and a PostgreSQL'],
]

/** Each in a separate process, one round after another. */
async function measureAll() {
  const results = ROWS.map(() => [])
  for (let round = 1; round <= ROUNDS; round++) {
    process.stderr.write(`growth: round ${round} of ${ROUNDS}\r`)
    for (const [i, [kind, count, within]] of ROWS.entries()) {
      const once = (...store) => ofProcess('growth-once.mjs', kind, String(count), ...store)
      results[i].push(await within(once))
    }
  }
  return results
}

export async function run() {
  const results = await measureAll()
  console.log(`\nMany at once, medians of ${ROUNDS} processes, Node ${process.version}\n`)
  console.log(`${''.padEnd(54)}      ms   CPU ms      MiB   ns per ID   joined again`)
  for (const [i, [kind, count, , where]] of ROWS.entries()) {
    const of = (unit) => median(results[i].map((one) => one[unit]))
    const name = `${kind}${where === undefined ? '' : ` that join ${where}`}: ${count.toLocaleString('en')}`
    const figures = [of('ms'), of('cpuMs'), of('mib')].map((figure) => figure.toFixed(1).padStart(8))
    const ns = of('nsEach')?.toFixed(1) ?? ''
    const again = of('repeated') ?? ''
    console.log(`${name.padEnd(54)} ${figures.join(' ')} ${ns.padStart(11)} ${String(again).padStart(14)}`.trimEnd())
  }
}
