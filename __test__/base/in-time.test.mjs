// The time limit of a call to a server: the caller gets an error in time, and nothing is left behind.

import { createRequire } from 'node:module'
import test from 'ava'
import { block } from '../support/lease.mjs'
import { once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { inTime, within } = require('../../target/rooms/lib/base/in-time.js')

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

test('a call that settles in time keeps its outcome and leaves no timer', async (t) => {
  const before = timers()
  for (let i = 0; i < 10; i++) {
    t.is(await inTime(Promise.resolve(7), 20_000), 7)
    await t.throwsAsync(inTime(Promise.reject(new Error('refused')), 20_000), { message: 'refused' })
  }
  t.true(timers() < before + 10, 'ava may have started a timer of its own test run')
})

test('a call that never settles fails in time', async (t) => {
  await t.throwsAsync(inTime(new Promise(() => {}), 20), { code: 'ETIMEDOUT', message: 'no answer within 20 ms' })
})

test('a call whose signal aborts fails at once, with the reason of the signal, and leaves no timer', async (t) => {
  const before = timers()
  for (let i = 0; i < 10; i++) {
    const over = new AbortController()
    const call = inTime(new Promise(() => {}), 20_000, over.signal)
    over.abort(new Error('no longer wanted'))
    await t.throwsAsync(call, { message: 'no longer wanted' })
    await t.throwsAsync(inTime(Promise.resolve(7), 20_000, over.signal), { message: 'no longer wanted' })
  }
  t.is(await inTime(Promise.resolve(7), 20_000, new AbortController().signal), 7)
  t.true(timers() < before + 10)
})

test('an answer that arrived while the event loop was blocked is in time', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  await new Promise(setImmediate) // timers run next in this turn
  const answer = inTime(once(port1, 'message'), 20)
  port2.postMessage('here')
  block(100)
  t.deepEqual(await answer, ['here'])
})

test("a plain wait resolves to undefined on a timeout, and has the promise's outcome otherwise", async (t) => {
  t.is(await within(new Promise(() => {}), 20), undefined)
  t.is(await within(Promise.resolve(7), 20_000), 7)
  await t.throwsAsync(within(Promise.reject(Object.assign(new Error('refused'), { code: 'ETIMEDOUT' })), 20_000))
})
