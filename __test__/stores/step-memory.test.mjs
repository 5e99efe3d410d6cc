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
  t.not(memoryOf('redis://a').core, one.core)
})

test('another address, or the user’s own client, has a separate memory', (t) => {
  const memories = ['redis://a', 'redis://b', undefined, undefined].map((address) => memoryOf(address).core)
  t.is(new Set(memories).size, 4)
})
