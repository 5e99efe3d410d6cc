'use strict'

// One Redis with one replica, which acknowledges every write, and is promoted by hand. In the control, a tool that
// copies the server's data follows it too: afterwards it acknowledges what the old primary still writes.

const { CopyingTool } = require('../../faults/copying-tool.js')
const { within } = require('../../faults/within.js')

const helpers = import('../../../../__test__/servers/redis.mjs')

const LONGEST_LINK_MS = 60_000
const SETTINGS = ['--min-replicas-to-write', '1', '--min-replicas-max-lag', '5', '--repl-diskless-sync', 'no']

const follow = (server, count) =>
  within(LONGEST_LINK_MS, `the server does not have ${count} replicas`, async () =>
    (await server.cli('INFO', 'replication')).includes(`min_slaves_good_slaves:${count}`),
  )

async function startRedis({ isSafe, count }) {
  const { startRedis, startReplica } = await helpers
  const old = await startRedis(...SETTINGS)
  const next = await startReplica(old, ...SETTINGS)
  const running = [old, next]
  const tool = isSafe ? undefined : new CopyingTool({ host: '127.0.0.1', port: old.port })
  await follow(old, isSafe ? 1 : 2)
  return {
    urlAt: (port) => `redis://127.0.0.1:${port}`,
    old,
    next,
    async promote() {
      count('promotions')
      await next.cli('REPLICAOF', 'NO', 'ONE')
      running.push(await startReplica(next, ...SETTINGS))
      count('replicas added')
      await follow(next, 1)
    },
    async stop() {
      tool?.stop()
      await Promise.all(running.map((server) => server.stop()))
    },
  }
}

module.exports = {
  want: async () => (await helpers).wantRedis() !== undefined,
  safe: 'one replica, which must acknowledge',
  control: 'redis, a tool that copies it acknowledges too',
  start: startRedis,
}
