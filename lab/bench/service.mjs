// The ID service, which this starts: requests and IDs per second by HTTP compared with an empty route of fastify, and
// RemoteFlakeId compared with FlakeId and with INCR on a Redis.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServer } from '../../__test__/servers/flakeforge.mjs'
import { startRedis } from '../../__test__/servers/redis.mjs'
import { freshFolder } from '../../__test__/servers/server.mjs'
import report from './report.js'

const { median, ofProcess, printPromises, ROUNDS } = report
const BATCH = 1000

/** `default` has 4,096 IDs in a millisecond. `wide` has 65,536: room for more than a server can send. */
const NAMES = { default: { group: 'default' }, wide: { group: 'wide', layout: 'snowcast', nodes: 128 } }

/** The rows of load: the request, and its server. */
const asText = (url) => ({ url: `${url}/v1/ids/default`, accept: 'text/plain' })
const asJson = (url) => ({ url: `${url}/v1/ids/default`, accept: 'application/json' })
const asBytes = (url) => ({ url: `${url}/v1/ids/wide?n=${BATCH}`, accept: 'application/octet-stream' })

async function startEmpty() {
  const child = spawn(process.execPath, [fileURLToPath(new URL('service-empty.js', import.meta.url))])
  const [line] = await once(child.stdout, 'data')
  const url = String(line).trim()
  return { url, stop: () => child.kill() }
}

async function startService() {
  const folder = await freshFolder('bench')
  const config = join(folder, 'server.json')
  await writeFile(config, JSON.stringify({ names: NAMES }))
  return startServer({ args: ['--config', config, '--store', `file:${join(folder, 'store')}`] })
}

/** Requests/s of our server and of the empty ones: [an ID as text, a text, an ID as JSON, { hello: 'world' }], then of batches. */
function measureHttp(service, empty) {
  const load = (...targets) => ofProcess('service-load.js', JSON.stringify(targets))
  const one = load(asText(service), { url: `${empty}/text`, accept: '*/*' }, asJson(service), {
    url: `${empty}/`,
    accept: '*/*',
  })
  const [batches] = load(asBytes(service))
  return { one, ids: median(batches) * BATCH }
}

/** Medians over processes. */
function measureRemote(service, redis) {
  const of = (kind) => Array.from({ length: ROUNDS }, () => ofProcess('remote-once.mjs', kind, service, redis))
  const pair = (kind) => {
    const pairs = of(kind)
    return [0, 1].map((i) => median(pairs.map((each) => each[i])))
  }
  return {
    calls: pair('calls'),
    requests: Math.max(...of('requests')),
    awaited: pair('awaited'),
    batches: pair('batches'),
  }
}

export async function run() {
  const [service, empty, redis] = await Promise.all([startService(), startEmpty(), startRedis()])
  try {
    print(measureHttp(service.url, empty.url), measureRemote(service.url, redis.url))
  } finally {
    await Promise.all([service.stop(), empty.stop(), redis.stop()])
  }
}

function print({ one, ids }, { calls, requests, awaited, batches }) {
  const k = (rate) => `${(rate / 1000).toFixed(1)} k/s`
  const ratio = (ours, empty) => median(one[ours].map((rate, round) => rate / one[empty][round]))
  console.log(`\nThe ID service, medians, Node ${process.version}\n`)
  console.log(`requests by HTTP: one ID as text ${k(median(one[0]))}; a route of fastify that returns a text`)
  console.log(`${k(median(one[1]))}; one ID as JSON ${k(median(one[2]))}; { hello: 'world' } ${k(median(one[3]))}`)
  console.log(`n=${BATCH} as bytes: ${(ids / 1e6).toFixed(1)} M IDs/s`)
  console.log(`nextBigInt(): RemoteFlakeId ${calls[0].toFixed(1)} ns, FlakeId ${calls[1].toFixed(1)} ns`)
  console.log(`10 000 nextAsync() at once: ${k(awaited[0])}; INCR by ioredis, a promise each: ${k(awaited[1])}`)
  console.log(`takeAsync(10 000): ${k(batches[0])}; a pipeline() of 10 000 INCR: ${k(batches[1])}`)
  printPromises([
    ['one ID by HTTP / a fastify route that returns a text', () => ratio(0, 1), 0.75, 'higher'],
    ['one ID as JSON / a fastify route that returns an object', () => ratio(2, 3), 0.75, 'higher'],
    [`n=${BATCH} as bytes, wide layout, M IDs/s`, () => ids / 1e6, 5, 'higher'],
    ['RemoteFlakeId nextBigInt() / FlakeId nextBigInt()', () => calls[0] / calls[1], 1],
    ['10 000 nextAsync() at once: requests', () => requests, 110],
    ['INCR by ioredis, pipelined / RemoteFlakeId, IDs/s', () => batches[1] / batches[0], 0.2],
  ])
}
