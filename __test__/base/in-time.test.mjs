// The bound of a call to a server: who waits hears in time, and nothing is left behind.

import { createRequire } from 'node:module'
import test from 'ava'

const { inTime, within } = createRequire(import.meta.url)('../../target/rooms/lib/base/in-time.js')

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

test('a call that settles in time settles so, and leaves no timer', async (t) => {
  const before = timers()
  for (let i = 0; i < 10; i++) {
    t.is(await inTime(Promise.resolve(7), 20_000), 7)
    await t.throwsAsync(inTime(Promise.reject(new Error('refused')), 20_000), { message: 'refused' })
  }
  t.true(timers() < before + 10, 'ava may have begun one of its own')
})

test('a call that never settles fails in time', async (t) => {
  await t.throwsAsync(inTime(new Promise(() => {}), 20), { code: 'ETIMEDOUT', message: 'no answer within 20 ms' })
})

test('who only wants to wait gets undefined where nothing comes, and what comes otherwise', async (t) => {
  t.is(await within(new Promise(() => {}), 20), undefined)
  t.is(await within(Promise.resolve(7), 20_000), 7)
  await t.throwsAsync(within(Promise.reject(Object.assign(new Error('refused'), { code: 'ETIMEDOUT' })), 20_000))
})
