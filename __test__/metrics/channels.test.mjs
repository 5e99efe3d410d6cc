// The diagnostics channels: what is published, when, and that neither a subscriber nor its absence changes anything.

import { spawn } from 'node:child_process'
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'
import { until } from '../servers/server.mjs'
import { FlakeId, freshNode, outputOf, putAhead, runChild, throwsCode, turn } from '../support/index.mjs'
import { happens, joined } from '../support/lease.mjs'
import { giveAway } from '../support/store.mjs'

const require = createRequire(import.meta.url)
const { Clock, NEEDS, canSetClocks } = require('../../lab/chaos/faults/clock.js')

const PHASES = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']

/** Everything published on a tracing channel from here on: [phase, context as it was then, context]. */
function traceOf(t, name) {
  const traced = []
  const subscribers = Object.fromEntries(
    PHASES.map((phase) => [phase, (context) => traced.push([phase, { ...context }, context])]),
  )
  const channel = tracingChannel(`flakeforge:${name}`)
  channel.subscribe(subscribers)
  t.teardown(() => channel.unsubscribe(subscribers))
  return traced
}

/** The messages of a plain channel from here on. */
function messagesOf(t, name) {
  const messages = []
  const listener = (message) => messages.push(message)
  subscribe(`flakeforge:${name}`, listener)
  t.teardown(() => unsubscribe(`flakeforge:${name}`, listener))
  return messages
}

const summary = (traced) => traced.map(([phase, { slot, result, error }]) => [phase, slot, result ?? error?.code])

test.serial('a lease: acquire, renew and release are traced, each as one context', async (t) => {
  const [acquire, renew, release] = ['acquire', 'renew', 'release'].map((call) => traceOf(t, `lease.${call}`))
  const { flake } = await joined(t, { group: 'traced' })
  t.deepEqual(summary(acquire), [
    ['start', undefined, undefined],
    ['end', undefined, undefined],
    ['asyncStart', 0, 'granted'],
    ['asyncEnd', 0, 'granted'],
  ])
  t.is(new Set(acquire.map(([, , context]) => context)).size, 1)
  t.deepEqual(Object.keys(acquire[0][2]).sort(), ['group', 'result', 'slot'], 'neither the owner nor the grant')
  t.is(acquire[0][2].group, 'traced')
  await happens(flake, 'renewed')
  t.deepEqual(summary(renew).slice(0, 4), [
    ['start', 0, undefined],
    ['end', 0, undefined],
    ['asyncStart', 0, 'renewed'],
    ['asyncEnd', 0, 'renewed'],
  ])
  t.deepEqual(release, [])
  await flake.close()
  t.deepEqual(summary(release).at(-1), ['asyncEnd', 0, 'released'])
})

test.serial('a failed call publishes its error, with a code; so does a lost slot', async (t) => {
  const { flake, store } = await joined(t, { group: 'failing' })
  const [renew, release] = [traceOf(t, 'lease.renew'), traceOf(t, 'lease.release')]
  store.fail(new Error('connection refused'))
  await until(() => renew.some(([phase]) => phase === 'error'))
  const [, { group, slot, error }] = renew.find(([phase]) => phase === 'error')
  t.like(error, { code: 'ERR_FLAKE_STORE', cause: { message: 'connection refused' } })
  t.deepEqual({ group, slot }, { group: 'failing', slot: 0 })
  store.work()
  giveAway(store, flake.slot, 'failing')
  await happens(flake, 'attached')
  t.deepEqual(summary(renew).at(-1), ['asyncEnd', 0, 'lost'])
  store.fail()
  await flake.detach()
  t.deepEqual(
    release.map(([phase]) => phase),
    ['start', 'end', 'error', 'asyncStart', 'asyncEnd'],
  )
})

test.serial('the state: each change, with its cause unless the program requested it', async (t) => {
  const messages = messagesOf(t, 'lease.state')
  const { flake, store } = await joined(t, { group: 'states' })
  await turn()
  const joining = { group: 'states', slot: undefined, state: 'detached', event: 'joining' }
  t.deepEqual(messages, [joining, { group: 'states', slot: 0, state: 'attached', event: 'attached' }])
  await happens(flake, 'renewed')
  t.is(messages.length, 2, 'a renewal changes no state')
  giveAway(store, flake.slot, 'states')
  await happens(flake, 'attached')
  await flake.detach()
  await turn()
  const [, , lost, attached, detached] = messages
  t.like(lost, { slot: 0, state: 'detached', event: 'lost' })
  t.is(lost.cause.code, 'ERR_FLAKE_LEASE_EXPIRED')
  t.like(attached, { slot: 1, state: 'attached', event: 'attached' })
  t.deepEqual(detached, { group: 'states', slot: 1, state: 'detached', event: 'detached' })
  await flake.attach()
  await turn()
  t.deepEqual(messages.slice(-2), [
    joining,
    { group: 'states', slot: flake.slot, state: 'attached', event: 'attached' },
  ])
  await flake.destroy()
  await turn()
  t.like(messages.at(-1), { state: 'destroyed', event: 'destroyed' })
})

test.serial('a subscriber may use the generator, and unsubscribe', async (t) => {
  let flake
  const renew = tracingChannel('flakeforge:lease.renew')
  const ids = []
  const subscribers = {
    asyncEnd() {
      ids.push(flake.nextBigInt())
      renew.unsubscribe(subscribers)
    },
  }
  renew.subscribe(subscribers)
  ;({ flake } = await joined(t))
  await happens(flake, 'renewed')
  await happens(flake, 'renewed')
  t.is(ids.length, 1)
})

test.serial('an error of a subscriber is uncaught, as Node.js has it, and the lease continues', async (t) => {
  const source = `
    import { subscribe, tracingChannel } from 'node:diagnostics_channel'
    import { MemoryStore, LEASE } from ${JSON.stringify(new URL('../support/store.mjs', import.meta.url).href)}
    const uncaught = []
    process.on('uncaughtException', ({ message }) => uncaught.push(message))
    const fail = (what) => () => { throw new Error(what) }
    subscribe('flakeforge:lease.state', fail('state'))
    for (const call of ['acquire', 'renew', 'release'])
      tracingChannel('flakeforge:lease.' + call).subscribe({ start: fail(call), asyncEnd: fail(call) })
    const flake = await FlakeId.join(new MemoryStore(), LEASE)
    const alive = setInterval(() => {}, 1000)
    for (let i = 0; i < 2; i++) await new Promise((resolve) => flake.once('renewed', resolve))
    const id = flake.nextBigInt()
    clearInterval(alive)
    await flake.close()
    await new Promise((resolve) => setImmediate(resolve))
    console.log(JSON.stringify([typeof id, [...new Set(uncaught)].sort()]))`
  const { code, stdout, stderr } = await runChild(source)
  t.is(code, 0, stderr)
  t.deepEqual(JSON.parse(stdout), ['bigint', ['acquire', 'release', 'renew', 'state']])
})

test.serial('nothing is created for a channel without subscribers', async (t) => {
  const { publishSoon, traced } = require('../../target/rooms/lib/base/channels.js')
  publishSoon('lease.state', () => t.fail('the channel has no subscribers'))
  const answer = { secret: 1 }
  t.is(
    await traced(
      'lease.renew',
      {},
      async () => answer,
      () => t.fail('the channel has no subscribers'),
    ),
    answer,
  )
  t.pass()
})

// --- the clock ---

test.serial('a clock behind the last ID: one message per step, however often calls fail', async (t) => {
  const messages = messagesOf(t, 'clock.step')
  const node = freshNode()
  const flake = new FlakeId({ id: node })
  flake.next()
  putAhead(node, 1500) // so the clock is behind the IDs of this node
  for (let i = 0; i < 5; i++) throwsCode(t, () => flake.next(), 'ERR_FLAKE_CLOCK_BACKWARDS')
  t.is(messages.length, 0, 'in a separate tick')
  const waiting = flake.nextAsync()
  await turn()
  t.is(messages.length, 1)
  const [{ behindMs, ...message }] = messages
  t.deepEqual(message, { layout: 'flake', node, steps: 0 })
  t.true(behindMs > 0 && behindMs <= 1500, `${behindMs}`)
  await waiting
  t.is(messages.length, 1)
})

test.serial("steps of a user's own clock are not counted", async (t) => {
  const messages = messagesOf(t, 'clock.step')
  let now = 1_700_000_000_000
  const flake = new FlakeId({ clock: () => now, maxAheadMs: 10_000 })
  flake.next()
  now -= 5000
  flake.next()
  t.is(flake.stats.clockSteps, 1)
  now -= 50_000
  throwsCode(t, () => flake.next(), 'ERR_FLAKE_CLOCK_BACKWARDS')
  await turn()
  t.deepEqual(messages, [])
})

const clockTest = canSetClocks ? test.serial : test.skip
if (!canSetClocks) console.warn(`\n!!! SKIPPED: no clock is set back: that needs ${NEEDS} !!!\n`)

clockTest('the system clock is set back: counted, and reported; at once if a call has to wait', async (t) => {
  const source = `
    const { subscribe } = require('node:diagnostics_channel')
    const { writeOffset } = require('./lab/chaos/faults/clock.js')
    const client = require('prom-client')
    const FlakeId = require('flakeforge')
    require('flakeforge/metrics').prometheusMetrics(client)
    const messages = []
    subscribe('flakeforge:clock.step', (message) => messages.push(message))
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    async function main() {
      const [strict, ahead] = [new FlakeId({ id: 1 }), new FlakeId({ id: 2, maxAheadMs: 60_000 })]
      strict.next()
      ahead.next()
      writeOffset(process.env.CLOCK_FILE, -5000)
      ahead.next()
      try { strict.next() } catch ({ code }) { messages.push(code) }
      await turn()
      messages.push('looks')
      ahead.stats
      ahead.stats
      await turn()
      const { values } = await client.register.getSingleMetric('flakeforge_clock_steps_total').get()
      console.log(JSON.stringify({ messages, steps: values[0].value }))
    }
    main()`
  const env = { ...process.env, ...new Clock().environment }
  const child = spawn(process.execPath, ['--eval', source], { env, cwd: path.join(import.meta.dirname, '..', '..') })
  const { stdout, stderr } = await outputOf(child)
  t.is(stderr, '')
  const { messages, steps } = JSON.parse(stdout)
  const [code, refused, looks, seen, ...more] = messages
  t.is(code, 'ERR_FLAKE_CLOCK_BACKWARDS')
  t.like(refused, { layout: 'flake', node: 1, steps: 1 })
  t.true(refused.behindMs > 4000 && refused.behindMs <= 5000, `${refused.behindMs}`)
  t.is(looks, 'looks')
  t.deepEqual(seen, { layout: 'flake', node: 2, steps: 1, behindMs: 0 })
  t.deepEqual(more, [])
  t.is(steps, 2)
})
