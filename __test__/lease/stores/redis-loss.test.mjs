// A Redis that lost what it acknowledged: flushed, evicted, restarted, failed over. Whatever it was, no window may be
// granted that touches one from before.

import { createRequire } from 'node:module'
import { startRedis, startReplica, untilCaughtUp, wantRedis } from '../../servers/redis.mjs'
import { testLosses } from './store-loss.mjs'

const require = createRequire(import.meta.url)
const { RedisRecords } = require('../../../lib/lease/stores/redis/records.js')
const { openClient } = require('../../../lib/lease/stores/redis/url.js')

async function start(t, ...options) {
  const server = await startRedis(...options)
  t.teardown(() => server.stop())
  return { server, url: server.url }
}

const recordsOf = (group) => `flakeforge:{${group}}:records`

async function restart({ server }) {
  await server.kill()
  await server.start()
}

testLosses({
  isThere: wantRedis() !== undefined,
  place: start,
  alone: (t) => start(t, '--appendonly', 'yes', '--appendfsync', 'always'),
  crash: (server) => server.kill(),
  recordsOf: (url) => new RedisRecords(openClient(url)),
  remove: ({ server }, group, name) => server.cli('HDEL', recordsOf(group), name),
  losses: {
    FLUSHALL: ({ server }) => server.cli('FLUSHALL'),
    'an eviction': ({ server }) => server.cli('DEL', recordsOf('orders')),
    'a restart without a file': restart,
  },
  rollbacks: {
    'an older file loaded at the start': async (t) => {
      const { server, url } = await start(t)
      const lose = async () => {
        await restart({ server })
        return url
      }
      const mark = async () => {
        await server.cli('SAVE')
        return lose
      }
      return { url, mark }
    },
    'a replica promoted': async (t) => {
      const { server: primary, url } = await start(t)
      const replica = await startReplica(primary)
      t.teardown(() => replica.stop())
      const lose = async () => {
        await primary.kill()
        return replica.url
      }
      const mark = async () => {
        await untilCaughtUp(replica, primary)
        await replica.cli('REPLICAOF', 'NO', 'ONE')
        return lose
      }
      return { url, mark }
    },
  },
  isLossy: true,
  isFit: false,
})
