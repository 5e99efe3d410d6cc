// A Redis that lost acknowledged writes: flushed, evicted, restarted, failed over. In each case, no window may be
// granted that touches an earlier one.

import { startRedis, startReplica, untilCaughtUp } from '../servers/redis.mjs'
import { stopAfter } from '../servers/server.mjs'
import { DATABASES } from './databases.mjs'
import { testLosses } from './loss.mjs'

const { redis } = DATABASES

/** A server that forgets everything when it ends. */
async function start(t) {
  const server = stopAfter(t, await startRedis())
  return { server, url: server.url }
}

async function restart({ server }) {
  await server.kill()
  await server.start()
}

testLosses(redis, {
  place: start,
  losses: {
    FLUSHALL: ({ server }) => server.cli('FLUSHALL'),
    'an eviction': ({ server }) => server.cli('DEL', 'flakeforge:{orders}:records'),
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
      const replica = stopAfter(t, await startReplica(primary))
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
  isFit: false,
})
