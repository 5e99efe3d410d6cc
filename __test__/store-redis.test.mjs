// The store's rules on a real Redis, with both clients: store-rules.mjs has them, and here is what is Redis' own.

import { createRequire } from 'node:module'
import { CLIENTS, serverNow, startRedis, untilPast, wantRedis } from './servers/redis.mjs'
import { CONFIG, testRules } from './store-rules.mjs'

const { redisStore } = createRequire(import.meta.url)('../lib/stores/redis.js')

function byHand({ cli }, group) {
  const key = (kind) => `flakeforge:{${group}}:${kind}`
  return {
    forget: () => cli('DEL', key('group')),
    edit: (change) => cli('HSET', key('group'), ...Object.entries(change).flat().map(String)),
    record: async () => (await cli('HGETALL', key('group'))) || undefined,
    moveEnd: ({ slot, owner, host, lo, hi }) => cli('HSET', key('slots'), String(slot), `${owner} ${lo} ${hi} ${host}`),
    keyTimes: async () => {
      const keys = (await cli('KEYS', key('*'))).split('\n')
      return Promise.all(keys.map((name) => cli('TTL', name)))
    },
  }
}

const rule = testRules({
  isInstalled: wantRedis() !== undefined,
  start: startRedis,
  clients: CLIENTS,
  storeOf: redisStore,
  serverNow,
  untilPast,
  byHand,
})

rule('no key expires, and a group has keys of its own under one hash tag', async (t, open, store) => {
  const { group, acquire, keyTimes } = await open()
  await acquire()
  for (const name of [`${group}:slots`, `${group}/a`]) {
    await store.open(name, CONFIG)
    t.deepEqual(await store.list(name), [])
  }
  const keys = await keyTimes()
  t.deepEqual(keys, Array(5).fill('-1'))
})
