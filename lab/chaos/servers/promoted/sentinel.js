'use strict'

// Redis with two replicas and three Sentinels. The primary and one replica are cut off, the Sentinels promote the other
// replica, and an operator gives that one new replicas: two primaries, both with replicas. In the control, half of the
// replicas must acknowledge a write. Otherwise all of them must.

const { within } = require('../../faults/within.js')
const { openNetwork } = require('../../faults/network.js')

const helpers = import('../../../../__test__/servers/redis.mjs')
const ports = import('../../../../__test__/servers/server.mjs')

const NAME = 'primary'
const LONGEST_MS = 60_000
const [HALF, ALL] = [1, 2]

async function startSentinel({ isSafe, count }) {
  const { startRedisOn, startSentinelOn } = await helpers
  const { freePort } = await ports
  const network = await openNetwork(3)
  const demand = isSafe ? ALL : HALF
  const running = []
  const startOn = async (machine, primary) => {
    const port = await freePort()
    const lines = [
      'repl-diskless-sync-delay 0',
      'repl-backlog-ttl 0',
      `min-replicas-to-write ${demand}`,
      'min-replicas-max-lag 5',
      ...(primary ? [`replicaof ${primary.host} ${primary.port}`] : []),
    ]
    const server = Object.assign(await startRedisOn(machine, port, lines), { host: machine.host })
    running.push(server)
    return server
  }
  const has = (server, replicas) =>
    within(LONGEST_MS, `no primary with ${replicas} replicas`, async () => {
      const info = await server.cli('INFO', 'replication')
      return info.includes('role:master') && info.includes(`min_slaves_good_slaves:${replicas}`)
    })
  const [cutOff, there, third] = network.machines
  const old = await startOn(cutOff)
  await startOn(cutOff, old)
  const next = await startOn(there, old)
  await has(old, 2)
  const sentinels = []
  for (const machine of network.machines) {
    const sentinel = await startSentinelOn(machine, await freePort(), [
      `sentinel monitor ${NAME} ${old.host} ${old.port} 2`,
      `sentinel down-after-milliseconds ${NAME} 2000`,
      `sentinel failover-timeout ${NAME} 3000`,
    ])
    sentinels.push(sentinel)
    running.push(sentinel)
  }
  const seen = 'slaves=2,sentinels=3'
  await within(LONGEST_MS, 'the Sentinels do not see each other', async () => {
    const all = await Promise.all(sentinels.map((sentinel) => sentinel.cli('INFO', 'sentinel')))
    return all.every((info) => info.includes(seen))
  })
  return {
    urlAt: (port) => `redis://127.0.0.1:${port}`,
    old,
    next,
    async promote() {
      await cutOff.cutOff()
      count('cut off')
      await within(LONGEST_MS, 'no replica was promoted', async () =>
        (await next.cli('INFO', 'replication')).includes('role:master'),
      )
      count('promotions')
      for (let i = 0; i < demand; i++) {
        await startOn(third, next)
        count('replicas added')
      }
      await has(next, demand)
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
  safe: 'every replica must acknowledge',
  control: 'sentinel, half must acknowledge, and a replica is added',
  start: startSentinel,
}
