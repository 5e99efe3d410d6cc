// Random steps on a real Redis give what the reference of the rules gives.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { CLIENTS, startRedis, wantRedis } from './servers/redis.mjs'
import { followsReference } from './store-reference.mjs'

const { redisStore } = createRequire(import.meta.url)('../lib/stores/redis.js')

const test = wantRedis() === undefined ? anyTest.skip : anyTest

/** What can happen to a server, done by hand so that it takes no time. */
function faultsOf(client) {
  let saved = []
  // A record that names another incarnation than the server's is what a restart leaves.
  async function restart() {
    for (const key of await client.keys('flakeforge:*')) {
      if (/:(group|counter)$/.test(key)) await client.hset(key, 'incarnation', 'of a server before')
    }
  }
  return {
    restart,
    flush: () => client.flushall(),
    save: async () => {
      const keys = await client.keys('*')
      saved = await Promise.all(keys.map(async (key) => [key, await client.dumpBuffer(key)]))
    },
    rollBack: async () => {
      await client.flushall()
      for (const [key, value] of saved) await client.restore(key, 0, value)
      await restart()
    },
  }
}

for (const name of Object.keys(CLIENTS)) {
  test.serial(`${name}: the store follows the reference`, async (t) => {
    t.timeout(240_000) // the reference may have to be compiled
    const server = await startRedis()
    t.teardown(() => server.stop())
    const byHand = await CLIENTS.ioredis(server)
    t.teardown(byHand.end)
    const { client, end } = await CLIENTS[name](server)
    t.teardown(end)
    const clock = async () => {
      const [seconds, micros] = await byHand.client.time()
      return seconds * 1000 + Math.floor(micros / 1000)
    }
    await followsReference(t, { store: redisStore(client), clock, faults: faultsOf(byHand.client) })
  })
}
