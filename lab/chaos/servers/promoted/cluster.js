'use strict'

// Redis Cluster: a primary with two replicas stands still and is cut off with one of them, the other replica is
// promoted, and the primary wakes up: two primaries, both with replicas. In the control, half of the replicas must
// acknowledge a write, and Redis itself moves a replica of another primary to the new one. Otherwise all replicas must,
// none is moved, and an operator adds two.

const { execFile } = require('node:child_process')
const { setTimeout: sleep } = require('node:timers/promises')
const { promisify } = require('node:util')
const { openNetwork } = require('../../faults/network.js')
const { within } = require('../../faults/within.js')

const helpers = import('../../../../__test__/servers/redis.mjs')
const ports = import('../../../../__test__/servers/server.mjs')

const LONGEST_MS = 150_000
const SLOTS = 16_384
const KEYS = '{chaos}' // the group's keys have its name as their hash tag
const [HALF, ALL] = [1, 2]
/** Until the machine is cut off: the replicas' last acknowledgements still count as fresh. */
const BEFORE_CUT_MS = 1000

async function startNode(machine, isSafe) {
  const { startRedisOn } = await helpers
  const { freePort } = await ports
  const [port, bus] = [await freePort(), await freePort()]
  const lines = [
    'repl-diskless-sync-delay 0',
    'repl-ping-replica-period 1',
    'repl-backlog-ttl 0',
    'cluster-enabled yes',
    `cluster-port ${bus}`,
    `cluster-announce-ip ${machine.host}`,
    `cluster-announce-port ${port}`,
    `cluster-announce-bus-port ${bus}`,
    `cluster-allow-replica-migration ${isSafe ? 'no' : 'yes'}`,
    `min-replicas-to-write ${isSafe ? ALL : HALF}`,
    'min-replicas-max-lag 5',
  ] // with the default cluster-node-timeout of 15 s
  return Object.assign(await startRedisOn(machine, port, lines), { host: machine.host, machine, bus })
}

/** Makes a node a replica of another one. */
async function follow(node, primary) {
  const id = await primary.cli('CLUSTER', 'MYID')
  await node.cli('CLUSTER', 'MEET', primary.host, String(primary.port), String(primary.bus))
  await within(LONGEST_MS, 'a node does not follow another one', async () => {
    return (await node.cli('CLUSTER', 'REPLICATE', id)) === 'OK'
  })
}

const has = (server, replicas) =>
  within(LONGEST_MS, `no primary with ${replicas} replicas`, async () => {
    const info = await server.cli('INFO', 'replication')
    return info.includes('role:master') && info.includes(`min_slaves_good_slaves:${replicas}`)
  })

async function startCluster({ isSafe, count }) {
  const network = await openNetwork(3)
  const running = []
  const add = async (machine, primary) => {
    const node = await startNode(machine, isSafe)
    running.push(node)
    if (primary !== undefined) await follow(node, primary)
    return node
  }
  const [first, second, third] = network.machines
  const primaries = [await add(first), await add(second), await add(third)]
  const [old, other, donor] = primaries
  const slot = Number(await old.cli('CLUSTER', 'KEYSLOT', KEYS))
  const place = Math.floor((slot * primaries.length) / SLOTS) // of the primary that gets the group
  const inOrder = primaries.map((_, i) => primaries[(i - place + primaries.length) % primaries.length])
  const addresses = inOrder.map(({ host, port }) => `${host}:${port}`)
  await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes'])
  const isReady = async () => (await old.cli('CLUSTER', 'INFO')).includes('cluster_state:ok')
  await within(LONGEST_MS, 'the cluster does not come together', isReady)
  await add(third, other) // first: a primary without a replica would get one of another's
  await add(first, old)
  const next = await add(second, old)
  for (const machine of [second, third]) await add(machine, donor)
  await has(old, 2)
  await has(donor, 2)
  return {
    urlAt: (port) => `redis://127.0.0.1:${port}`,
    old,
    next,
    async promote() {
      process.kill(old.pid, 'SIGSTOP')
      await sleep(Math.random() * BEFORE_CUT_MS)
      await first.cutOff()
      count('frozen then cut')
      await within(LONGEST_MS, 'no replica was promoted', async () =>
        (await next.cli('INFO', 'replication')).includes('role:master'),
      )
      count('promotions')
      for (const machine of isSafe ? [second, third] : []) {
        await add(machine, next)
        count('replicas added')
      }
      await has(next, isSafe ? ALL : HALF)
      if (!isSafe) count('replicas moved')
    },
    /** Once the new primary has members: the old one takes writes until the node timeout tells it that it is alone. */
    async wake() {
      process.kill(old.pid, 'SIGCONT')
    },
    async stop() {
      await Promise.all(running.map((server) => server.stop()))
      await network.close()
    },
  }
}

module.exports = {
  want: async () => (await helpers).wantRedis() !== undefined,
  needsNamespaces: true,
  safe: 'every replica must acknowledge, none is moved',
  control: 'cluster, half must acknowledge, and a replica is moved',
  start: startCluster,
}
