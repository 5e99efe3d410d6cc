// Groups and counters on a real Redis: rules.mjs and counters.mjs have the tests, and here is what is Redis'
// own.

import { testCounters } from './counters.mjs'
import { DATABASES } from './databases.mjs'
import { freshName, openGroup, serve, testRules } from './rules.mjs'

const { redis } = DATABASES
const served = serve(redis)

testRules(redis, served)
testCounters(redis, served)

served.test('no key expires, and each group and counter has one key', async (t) => {
  const own = await served.member('ioredis')
  const { group, acquire } = await openGroup(own)
  await acquire()
  const counter = freshName()
  await own.store.advance(counter, 1n, 0n)
  const { cli } = served.server()
  for (const name of [group, counter]) {
    const keys = (await cli('KEYS', `flakeforge:{${name}}*`)).split('\n')
    t.deepEqual(keys, [`flakeforge:{${name}}:records`])
    t.is(await cli('TTL', keys[0]), '-1')
  }
})
