// The promises of waiting calls, for each class that has such calls: order, the async context, callbacks that throw,
// the bounds of n, close(), and 100,000 waiting calls. Signals are tested in signal.test.mjs.

import { AsyncLocalStorage } from 'node:async_hooks'
import test from 'ava'
import { CLASSES, goOnUntil } from '../support/calls.mjs'
import { called, inOrder, jsonOfChild, numberOf, split, submit, turn, until } from '../support/index.mjs'

const MANY = 100_000

/** n bigints, starting with the given one. */
const from = (first, n) => Array.from({ length: n }, (_, i) => first + BigInt(i))

for (const [kind, { stuck, most }] of Object.entries(CLASSES)) {
  test(`${kind}: a callback runs later, once, with (null, id), and each ID has its own memory`, async (t) => {
    const { generator, goOn, expected } = await stuck(t)
    const told = []
    t.is(
      generator.next((...args) => told.push(args)),
      undefined,
    )
    goOn()
    t.deepEqual(told, [], 'not inside the call')
    await until(told, 1)
    generator.next((...args) => told.push(args))
    t.is(told.length, 1, 'nor when an ID is available')
    await until(told, 2)
    t.deepEqual(
      told.map(([error, id, ...others]) => [error, numberOf(id), others]),
      from(expected(), 2).map((id) => [null, id, []]),
    )
    for (const [, id] of told) t.true(Buffer.isBuffer(id) && id.length === 8 && id.buffer.byteLength === 8)
  })

  test(`${kind}: a non-function is rejected, and no ID is taken`, async (t) => {
    const { generator, goOn, expected } = await stuck(t)
    for (const callback of [1, 'next', {}, false])
      t.throws(() => generator.next(callback), { code: 'ERR_FLAKE_OPTION', instanceOf: TypeError, message: /callback/ })
    goOn()
    t.is(numberOf(await generator.nextAsync()), expected())
  })

  test(`${kind}: next(callback), nextAsync, takeAsync and a loop share one queue`, async (t) => {
    const { generator, goOn, expected } = await stuck(t)
    const all = [
      called(generator),
      generator.nextAsync(),
      generator.takeAsync(5),
      generator[Symbol.asyncIterator]()
        .next()
        .then(({ value }) => value),
      generator.nextAsync({ signal: new AbortController().signal }),
      called(generator),
      generator.takeAsync(2),
    ]
    goOn()
    const ids = (await Promise.all(all)).flatMap(split)
    t.deepEqual(ids.map(numberOf), from(expected(), 12))
  })

  test(`${kind}: with IDs available, calls with and without a signal are served in their order too`, async (t) => {
    const { generator, goOn, expected } = await stuck(t)
    const waits = generator.nextAsync()
    goOn()
    await waits
    const { signal } = new AbortController()
    const all = [generator.nextAsync({ signal }), generator.nextAsync(), called(generator), generator.takeAsync(2)]
    const ids = (await Promise.all(all)).flatMap(split)
    t.deepEqual(ids.map(numberOf), from(expected() + 1n, 5))
  })

  test(`${kind}: a call inside a callback is served after those already waiting`, async (t) => {
    const { generator, goOn } = await stuck(t)
    const told = []
    for (let i = 0; i < 20; i++)
      generator.next((error) => {
        told.push([i, error])
        if (i === 5) generator.next(() => told.push([20, null]))
      })
    goOn()
    await until(told, 21)
    t.deepEqual(
      told,
      Array.from({ length: 21 }, (_, i) => [i, null]),
    )
  })

  test.serial(
    `${kind}: an error thrown by a callback is an uncaught exception, and the calls behind it are served in order`,
    async (t) => {
      const { generator, goOn } = await stuck(t)
      const listeners = process.listeners('uncaughtException')
      process.removeAllListeners('uncaughtException')
      t.teardown(() => {
        process.removeAllListeners('uncaughtException')
        for (const listener of listeners) process.on('uncaughtException', listener)
      })
      const caught = []
      process.on('uncaughtException', (error) => caught.push(error))
      const told = []
      for (let i = 0; i < 500; i++)
        generator.next(() => {
          told.push({ i })
          if (i % 7 === 0) throw i
        })
      goOn()
      await until(told, 500)
      await turn()
      t.true(inOrder(told))
      t.deepEqual(
        caught,
        Array.from({ length: 72 }, (_, i) => i * 7),
      )
    },
  )

  test(`${kind}: callbacks, promises and loops keep the async context of their call`, async (t) => {
    const { generator, goOn } = await stuck(t)
    const storage = new AsyncLocalStorage()
    const wrong = []
    const look = (i) => {
      if (storage.getStore() !== i) wrong.push([i, storage.getStore()])
    }
    const all = Array.from({ length: 200 }, (_, i) =>
      storage.run(i, async () => {
        await called(generator)
        look(i)
        await new Promise((resolve) => generator.next(() => resolve(look(i))))
        await generator.takeAsync(2)
        look(i)
        for await (const _ of generator) break
        look(i)
      }),
    )
    await goOnUntil(goOn, Promise.all(all))
    t.deepEqual(wrong, [])
  })

  test(`${kind}: n at and beyond its bounds`, async (t) => {
    const { generator, goOn, expected } = await stuck(t)
    for (const n of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, most + 1])
      await t.throwsAsync(generator.takeAsync(n), { code: 'ERR_FLAKE_OPTION', instanceOf: RangeError, message: /^n / })
    for (const n of ['5', 5n, undefined, null, {}])
      await t.throwsAsync(generator.takeAsync(n), { code: 'ERR_FLAKE_OPTION', instanceOf: TypeError, message: /^n / })
    t.is((await generator.takeAsync(0)).length, 0)
    goOn()
    t.deepEqual((await generator.takeAsync(1)).length, 8)
    t.is(numberOf(await generator.nextAsync()), expected() + 1n)
  })

  test(`${kind}: ${MANY} waiting calls are served in order, each once`, async (t) => {
    const { generator, goOn, expected } = await stuck(t)
    const told = []
    submit(generator, MANY, told)
    t.is(told.length, 0)
    await goOnUntil(goOn, until(told, MANY))
    await turn()
    t.is(told.length, MANY)
    t.true(inOrder(told))
    t.true(told.every(({ error }) => error === null))
    const ids = told.map(({ id }) => numberOf(id))
    t.true(ids[0] <= expected())
    t.true(ids.every((id, i) => i === 0 || id > ids[i - 1]))
  })
}

for (const kind of ['SegmentId', 'RemoteFlakeId'])
  test(`${kind}: close() ends all waiting calls in order, and later ones too`, async (t) => {
    const { generator, goOn } = await CLASSES[kind].stuck(t)
    const told = []
    submit(generator, 1000, told)
    const closed = { code: 'ERR_FLAKE_DETACHED' }
    const all = [generator.nextAsync(), generator.takeAsync(3), generator[Symbol.asyncIterator]().next()]
    const rejected = Promise.all(all.map((call) => t.throwsAsync(call, closed)))
    const closing = generator.close()
    if (kind === 'SegmentId') goOn() // it waits for its store, up to 5 s
    await Promise.all([closing, rejected])
    await until(told, 1000)
    t.true(inOrder(told))
    t.true(told.every(({ error, id }) => error === null || (error.code === 'ERR_FLAKE_DETACHED' && id === undefined)))
    await t.throwsAsync(generator.nextAsync(), closed)
    await t.throwsAsync(generator.takeAsync(1), closed)
  })

/** Makes `generator`, which has no IDs available. */
const CHILDREN = {
  FlakeId: `
    const generator = new FlakeId({ clock: () => 1e12, seqMask: 1 })
    generator.take(2)`,
  SegmentId: `
    const { Counters, SegmentId } = await import(${JSON.stringify(import.meta.resolve('../support/segment.mjs'))})
    const store = new Counters()
    const generator = await SegmentId.open(store, { name: 'x', block: 1 })
    generator.take(1)
    store.before = () => new Promise(() => {})`,
}

for (const [kind, source] of Object.entries(CHILDREN))
  test(`${kind}: waiting calls keep the process alive, and no timer does after they are given up`, async (t) => {
    const shown = await jsonOfChild(
      t,
      `${source}
      const controller = new AbortController()
      const { signal } = controller
      const calls = [generator.nextAsync({ signal }), generator.takeAsync(2, { signal })]
      const ids = generator.ids({ signal })
      const step = ids.next()
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
      for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
      const before = timers()
      controller.abort('enough')
      const ended = await Promise.allSettled(calls)
      console.log(JSON.stringify([before, timers(), ended.map(({ reason }) => reason), await step]))`,
    )
    t.deepEqual(shown, [1, 0, ['enough', 'enough'], { done: true }])
  })
