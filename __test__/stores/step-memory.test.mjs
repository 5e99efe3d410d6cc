// lib/stores/step-memory.ts: which stores share a memory.

import { createRequire } from 'node:module'
import test from 'ava'

const require = createRequire(import.meta.url)
const { memoryOf } = require('../../target/rooms/lib/stores/step-memory.js')
const { createGroup, join } = require('../../target/rooms/lib/lease/join.js')

test('stores of one address share a memory, until the last of them is closed', (t) => {
  const [one, two] = [memoryOf('redis://a'), memoryOf('redis://a')]
  t.is(one.core, two.core)
  one.close()
  one.close() // a second time
  const three = memoryOf('redis://a')
  t.is(three.core, two.core)
  two.close()
  three.close()
  const four = memoryOf('redis://a')
  t.not(four.core, one.core)
  three.close() // a second time: others use the address by now
  t.is(memoryOf('redis://a').core, four.core)
})

test('another address, or the user’s own client, has a separate memory', (t) => {
  const memories = ['redis://a', 'redis://b', undefined, undefined].map((address) => memoryOf(address).core)
  t.is(new Set(memories).size, 4)
})

test('a store whose options are refused is closed', async (t) => {
  const address = 'redis://127.0.0.1:1' // nothing listens there
  for (const call of [join, createGroup]) {
    await t.throwsAsync(call(address, { group: 'g', backfill: 4 }), { code: 'ERR_FLAKE_OPTION', message: /durable/ })
    const memory = memoryOf(address)
    memory.close()
    const next = memoryOf(address)
    next.close()
    t.not(next.core, memory.core, 'no other store of this address is open')
  }
})
