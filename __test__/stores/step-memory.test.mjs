// lib/stores/step-memory.ts: which stores share a memory.

import { createRequire } from 'node:module'
import test from 'ava'

const { memoryOf } = createRequire(import.meta.url)('../../target/rooms/lib/stores/step-memory.js')

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
