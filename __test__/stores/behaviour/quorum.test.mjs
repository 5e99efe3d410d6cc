// The promises of stores on three Redis that are one: those about reads, swaps, members and clients, and all checks of
// flakeforge-check-store. A server that ends is not one of them, because two others remain: ../quorum-members.test.mjs. What
// waits for the end of a group is decided in the core, so single stores are enough for that.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { allAreOk, findingOf, moduleOf } from '../../check-store/suite.mjs'
import { startRedis, wantRedis } from '../../servers/redis.mjs'
import { findProgram } from '../../servers/server.mjs'
import { lease } from '../../support/index.mjs'
import { REDIS } from '../databases/redis.mjs'
import { breakPromises } from './breaks.mjs'
import { clientPromises } from './clients.mjs'
import { leasePromises } from './leases.mjs'
import { recordPromises } from './records.mjs'
import { Suite } from './suite.mjs'

const { openStore } = lease
const PROGRAM = new URL('../../../packages/check-store/dist/flakeforge-check-store.mjs', import.meta.url).pathname
const LEASE = new URL('../../../dist/lease.mjs', import.meta.url)

async function startThree(options = []) {
  const nodes = await Promise.all([1, 2, 3].map(() => startRedis(...options)))
  return { nodes, stop: () => Promise.all(nodes.map((node) => node.stop())) }
}

/** For one port, which nobody listens on, there are three hosts: equal addresses are refused. */
const addressesOf = ({ nodes }) =>
  nodes.length === 3
    ? nodes.map(({ port }) => `redis://127.0.0.1:${port}`)
    : [1, 2, 3].map((host) => `redis://127.0.0.${host}:${nodes[0].port}`)

const QUORUM = {
  isInstalled: () => wantRedis() !== undefined,
  sites: { three: startThree },
  plain: 'three',
  keeps: REDIS.keeps,
  rows: {
    'three Redis': {
      site: 'three',
      isOurs: true,
      connect: async (site) => {
        const store = openStore(addressesOf(site))
        return { client: store, end: () => store.close() }
      },
    },
  },
  recordsOf: (store) => store.records,
  cannotListGroups: true,
  signals: [], // of a server that ends alone
}

const suite = new Suite(QUORUM)
for (const promises of [recordPromises, leasePromises, breakPromises, clientPromises]) promises(suite)

suite.alone('all checks of flakeforge-check-store, by the program and three addresses', async (t) => {
  t.timeout(300_000)
  const site = await startThree()
  t.teardown(site.stop)
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...addressesOf(site), '--json'])
  const results = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ check }) => check !== undefined)
  allAreOk(t, results)
})

suite.alone('a loss of all data shows', async (t) => {
  t.timeout(300_000)
  const site = await startThree()
  t.teardown(site.stop)
  const cli = JSON.stringify(findProgram('redis-cli'))
  const file = moduleOf(`
    import { execFileSync } from 'node:child_process'
    import { quorumStore } from ${JSON.stringify(LEASE)}
    export default async () => quorumStore(${JSON.stringify(addressesOf(site))}).records
    export function wipe() {
      for (const port of ${JSON.stringify(site.nodes.map(({ port }) => port))}) execFileSync(${cli}, ['-p', port, 'FLUSHALL'])
    }`)
  t.is(await findingOf(file, 'loss'), undefined)
  for (const node of site.nodes) t.regex(await node.cli('INFO', 'commandstats'), /cmdstat_flushall:calls=[1-9]/)
})
