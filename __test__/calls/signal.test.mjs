// AbortSignals of calls that wait for IDs: nextAsync, takeAsync and ids() of each class that has them. An aborted call
// ends with the signal's reason, takes no number, and leaves no listener, timer or memory behind.

import { EventEmitter, getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import test from 'ava'
import { CLASSES } from '../support/calls.mjs'
import { FlakeId, isAscending, jsonOfChild, manualClock, PER_TICK, real, SOME_TIME, turn } from '../support/index.mjs'
import { Counters, SegmentId } from '../support/segment.mjs'
import { until } from '../support/waits.mjs'

const CALLS = {
  nextAsync: (generator, options) => generator.nextAsync(options),
  takeAsync: (generator, options) => generator.takeAsync(3, options),
}

for (const [name, call] of Object.entries(CALLS)) {
  test(`${name}: a signal in place of the options is rejected, not ignored`, async (t) => {
    const { signal } = new AbortController()
    const error = await t.throwsAsync(async () => call(new FlakeId(), signal), { code: 'ERR_FLAKE_OPTION' })
    t.is(error.message, 'options must be a plain object, but is an object of class AbortSignal')
    t.throws(() => new FlakeId().ids(signal), { code: 'ERR_FLAKE_OPTION' })
  })
}

const listenersOf = (signal) => getEventListeners(signal, 'abort').length
const reasons = { undefined: undefined, null: null, text: 'enough', error: new RangeError('enough') }

/** The reason that a promise is rejected with, of any type. */
const rejection = (promise) =>
  promise.then(
    () => {
      throw new Error('it was not rejected')
    },
    (reason) => ({ reason }),
  )

async function nextBigInt(generator) {
  return (await generator.nextAsync()).readBigUInt64BE()
}

for (const [kind, { stuck }] of Object.entries(CLASSES)) {
  for (const [name, call] of Object.entries(CALLS)) {
    for (const [which, given] of Object.entries(reasons)) {
      test(`${kind}.${name}: an abort while waiting rejects with the reason, and takes no number: ${which}`, async (t) => {
        const { generator, goOn, expected } = await stuck(t)
        const controller = new AbortController()
        const { signal } = controller
        const waiting = rejection(call(generator, { signal }))
        await turn()
        t.is(listenersOf(signal), 1)
        controller.abort(given)
        t.is((await waiting).reason, signal.reason)
        if (which === 'undefined') t.is(signal.reason.name, 'AbortError')
        t.is(listenersOf(signal), 0)
        goOn()
        t.is(await nextBigInt(generator), expected())
      })
    }

    test(`${kind}.${name}: a signal that is already aborted rejects at once, and takes no number`, async (t) => {
      const { generator, goOn, expected } = await stuck(t)
      goOn()
      await turn()
      const signal = AbortSignal.abort('before')
      t.deepEqual(await rejection(call(generator, { signal })), { reason: 'before' })
      t.is(listenersOf(signal), 0)
      t.is(await nextBigInt(generator), expected())
    })

    test(`${kind}.${name}: an abort right after the call rejects too, and takes no number`, async (t) => {
      const { generator, goOn, expected } = await stuck(t)
      goOn()
      await turn()
      const controller = new AbortController()
      const waiting = rejection(call(generator, { signal: controller.signal }))
      controller.abort('at once')
      t.deepEqual(await waiting, { reason: 'at once' })
      t.is(await nextBigInt(generator), expected())
    })

    test(`${kind}.${name}: a signal that is not aborted changes nothing, and neither does a later abort`, async (t) => {
      const { generator, goOn } = await stuck(t)
      const controller = new AbortController()
      const { signal } = controller
      const waiting = [1, 2].map(() => call(generator, { signal }))
      waiting.push(call(generator, {}), call(generator, { signal: undefined }), call(generator, { signal: null }))
      goOn()
      const ids = await Promise.all(waiting)
      t.is(listenersOf(signal), 0)
      controller.abort()
      const numbers = ids.map((id) => id.readBigUInt64BE())
      t.true(isAscending(numbers))
      t.is(numbers.at(-1) - numbers[0], BigInt(ids.length - 1) * BigInt(ids[0].length / 8))
    })

    for (const options of [
      5,
      'x',
      true,
      [],
      { sginal: AbortSignal.abort() },
      { signal: 5 },
      { signal: {} },
      { signal: 'x' },
    ]) {
      test(`${kind}.${name}: bad options reject with ERR_FLAKE_OPTION: ${inspect(options)}`, async (t) => {
        const { generator, goOn, expected } = await stuck(t)
        goOn()
        await turn()
        const error = await t.throwsAsync(call(generator, options), { code: 'ERR_FLAKE_OPTION', instanceOf: TypeError })
        t.true(error.message.includes('signal') || error.option === 'options', error.message)
        t.is(await nextBigInt(generator), expected())
      })
    }
  }

  test(`${kind}: calls behind an aborted one get their IDs, in order`, async (t) => {
    const { generator, goOn, expected } = await stuck(t)
    const controllers = Array.from({ length: 9 }, () => new AbortController())
    const calls = controllers.map(({ signal }) => generator.nextAsync({ signal }))
    for (const [i, controller] of controllers.entries()) if (i % 3 !== 1) controller.abort(i)
    const outcomes = Promise.allSettled(calls)
    goOn()
    const shown = (await outcomes).map(({ value, reason }) => reason ?? value.readBigUInt64BE() - expected())
    t.deepEqual(shown, [0, 0n, 2, 3, 1n, 5, 6, 2n, 8])
  })

  test(`${kind}.ids: a loop ends without an error when the signal aborts while the loop waits`, async (t) => {
    const { generator, goOn, expected } = await stuck(t)
    const controller = new AbortController()
    const { signal } = controller
    const seen = []
    const loop = (async () => {
      for await (const id of generator.ids({ signal })) seen.push(id)
    })()
    await turn()
    t.is(listenersOf(signal), 1)
    controller.abort()
    await loop
    t.deepEqual(seen, [])
    t.is(listenersOf(signal), 0)
    goOn()
    t.is(await nextBigInt(generator), expected())
  })

  test(`${kind}.ids: a loop ends when its body aborts, and does not start if its signal was aborted before`, async (t) => {
    const { generator, goOn, expected } = await stuck(t)
    goOn()
    const controller = new AbortController()
    const { signal } = controller
    const seen = []
    for await (const id of generator.ids({ signal })) if (seen.push(id) === 5) controller.abort()
    t.is(seen.length, 5)
    for await (const id of generator.ids({ signal })) t.fail(`got ${id}`)
    t.is(await nextBigInt(generator), expected() + 5n)
    t.is(listenersOf(signal), 0)
  })

  test(`${kind}.ids: several waiting next() calls all end, and later ones too`, async (t) => {
    const { generator } = await stuck(t)
    const controller = new AbortController()
    const ids = generator.ids({ signal: controller.signal })
    const waiting = [ids.next(), ids.next(), ids.next()]
    t.is(listenersOf(controller.signal), 1)
    controller.abort()
    const end = { done: true, value: undefined }
    t.deepEqual(await Promise.all([...waiting, ids.next()]), [end, end, end, end])
    t.is(listenersOf(controller.signal), 0)
  })

  test(`${kind}.ids: a loop that was left, by break or by an abort, has no listener`, async (t) => {
    const { generator, goOn } = await stuck(t)
    goOn()
    const { signal } = new AbortController()
    for await (const _ of generator.ids({ signal })) break
    t.is(listenersOf(signal), 0)
    const abandoned = generator.ids({ signal })
    await abandoned.next()
    t.is(listenersOf(signal), 0)
    const { goOn: _, generator: other } = await stuck(t)
    const left = other.ids({ signal })
    const waiting = left.next()
    await left.return()
    t.true((await waiting).done)
    t.is(listenersOf(signal), 0)
  })

  test(`${kind}.ids: without a signal the iteration is endless, and bad options are an error at once`, async (t) => {
    const { generator, goOn, expected } = await stuck(t)
    goOn()
    const seen = []
    for await (const id of generator.ids()) if (seen.push(id.readBigUInt64BE() - expected()) === 3) break
    for await (const id of generator.ids({})) if (seen.push(id.readBigUInt64BE() - expected()) === 5) break
    t.deepEqual(seen, [0n, 1n, 2n, 3n, 4n])
    for (const options of [5, { sginal: 1 }, { signal: 1 }]) {
      t.throws(() => generator.ids(options), { code: 'ERR_FLAKE_OPTION' })
    }
  })

  test.serial(
    `${kind}: 10 000 calls waiting on one signal share one listener, and end together without a warning`,
    async (t) => {
      const warnings = []
      const onWarning = (warning) => warnings.push(warning.name)
      process.on('warning', onWarning)
      t.teardown(() => process.off('warning', onWarning))
      const { generator, goOn, expected } = await stuck(t)
      const controller = new AbortController()
      const { signal } = controller
      const calls = Array.from({ length: 10_000 }, () => rejection(generator.nextAsync({ signal })))
      t.is(listenersOf(signal), 1)
      controller.abort('all')
      t.true((await Promise.all(calls)).every(({ reason }) => reason === 'all'))
      t.is(listenersOf(signal), 0)
      await turn()
      t.deepEqual(warnings, [])
      goOn()
      t.is(await nextBigInt(generator), expected())
    },
  )
}

test('a batch that is aborted halfway takes no more numbers', async (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock })
  const controller = new AbortController()
  const waiting = rejection(flake.takeAsync(PER_TICK * 3, { signal: controller.signal }))
  await until(() => flake.stats.ids >= PER_TICK, { everyMs: 0 })
  controller.abort('enough')
  t.deepEqual(await waiting, { reason: 'enough' })
  clock.now++
  await sleep(10)
  t.is(flake.stats.ids, PER_TICK)
  t.like(flake.decode(flake.next()), { timestamp: SOME_TIME + 1, counter: 0 })
})

test('a clock that aborts the call that reads it: the call is rejected, and those behind it are served', async (t) => {
  const controller = new AbortController()
  const clock = () => {
    controller.abort('by the clock')
    return SOME_TIME
  }
  const flake = new FlakeId({ clock })
  const aborted = rejection(flake.nextAsync({ signal: controller.signal }))
  const other = flake.nextAsync({})
  t.deepEqual(await aborted, { reason: 'by the clock' })
  t.is(flake.decode(await other).timestamp, SOME_TIME)
})

test('an AbortSignal.timeout ends a wait', async (t) => {
  const { generator } = await CLASSES.FlakeId.stuck()
  const { reason } = await rejection(generator.nextAsync({ signal: AbortSignal.timeout(10) }))
  t.is(reason.name, 'TimeoutError')
  const source = AbortSignal.timeout(10)
  const any = AbortSignal.any([source, new AbortController().signal])
  t.is((await rejection(generator.takeAsync(5, { signal: any }))).reason.name, 'TimeoutError')
  t.true(source.aborted, 'it is used until here: nothing else keeps the sources of an any() from the garbage collector')
})

test('a signal of another library is accepted, with or without a reason', async (t) => {
  class Signal extends EventEmitter {
    aborted = false
    addEventListener = (event, listener) => this.on(event, listener)
    removeEventListener = (event, listener) => this.off(event, listener)
    abort(reason) {
      Object.assign(this, { aborted: true, reason })
      this.emit('abort')
    }
  }
  const { generator } = await CLASSES.FlakeId.stuck()
  for (const reason of ['enough', undefined]) {
    const signal = new Signal()
    const waiting = rejection(generator.nextAsync({ signal }))
    await turn()
    signal.abort(reason)
    const told = await waiting
    if (reason === undefined) t.is(told.reason.name, 'AbortError')
    else t.is(told.reason, reason)
    t.is(signal.listenerCount('abort'), 0)
  }
})

test('a process whose calls were all aborted has no timer left, and exits', async (t) => {
  const source = `
    new FlakeId({ id: 4, seqMask: 1, maxAheadMs: Infinity }).takeBigInts(100_000) // 50 s ahead of the clock
    const flake = new FlakeId({ id: 4 })
    const controller = new AbortController()
    const { signal } = controller
    const calls = [flake.nextAsync({ signal }), flake.takeAsync(5, { signal }), flake.nextAsync({ signal })]
    const loop = (async () => { for await (const id of flake.ids({ signal })) throw id })()
    await new Promise((resolve) => setTimeout(resolve, 5))
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    controller.abort('end')
    const ended = await Promise.allSettled(calls)
    await loop
    console.log(JSON.stringify({ before, after: timers(), reasons: ended.map(({ reason }) => reason), waits: flake.stats.waits }))
  `
  t.deepEqual(await jsonOfChild(t, source), { before: 1, after: 0, reasons: ['end', 'end', 'end'], waits: 1 })
})

test('aborted calls are not kept behind one that is still waiting', async (t) => {
  const source = `
    let now = 1700000000000
    const flake = new FlakeId({ id: 4, clock: () => now })
    flake.takeBigInts(4096)
    const first = flake.nextAsync()
    const round = async (n) => {
      for (let i = 0; i < n; i++) {
        const controller = new AbortController()
        const call = flake.nextAsync({ signal: controller.signal }).catch(() => {})
        controller.abort()
        await call
        if (i % 1000 === 0) gc() // the table behind a WeakMap grows until then, and does not shrink
      }
      gc()
      return process.memoryUsage().heapUsed
    }
    await round(5000)
    const before = await round(1000)
    const after = await round(50_000)
    now++
    const { counter } = flake.decode(await first)
    console.log(JSON.stringify({ counter, isSmall: after - before < 2e6 }))
  `
  t.deepEqual(await jsonOfChild(t, source, ['--expose-gc']), { counter: 0, isSmall: true })
})

test('a signal that outlives its calls keeps nothing of them alive', async (t) => {
  const source = `
    const flake = new FlakeId({ id: 4 })
    const { signal } = new AbortController()
    const round = async (n) => {
      for (let i = 0; i < n; i++) await flake.nextAsync({ signal })
      gc()
      return process.memoryUsage().heapUsed
    }
    await round(5000)
    const before = await round(1000)
    const after = await round(100_000)
    console.log(JSON.stringify({ isSmall: after - before < 2e6 }))
  `
  t.deepEqual(await jsonOfChild(t, source, ['--expose-gc']), { isSmall: true })
})

test('a real generator with random aborts: all IDs ascend', async (t) => {
  const flake = real()
  const ids = []
  const aborted = []
  const calls = Array.from({ length: 20_000 }, async (_, i) => {
    const controller = new AbortController()
    if (i % 7 === 0) setImmediate(() => controller.abort(i))
    try {
      ids.push(await flake.nextAsync({ signal: controller.signal }))
    } catch (reason) {
      aborted.push(reason)
    }
  })
  await Promise.all(calls)
  t.true(isAscending(ids))
  t.is(ids.length + aborted.length, 20_000)
  t.is(flake.stats.ids, ids.length)
  t.true(aborted.every((reason) => reason % 7 === 0))
})

test("a closed SegmentId: waiting calls get its error, not their signal's", async (t) => {
  const store = new Counters()
  const segment = await SegmentId.open(store, { name: 'x', block: 1 })
  segment.nextBigInt()
  store.fail(new Error('down'))
  const { signal } = new AbortController()
  const waiting = segment.nextAsync({ signal })
  const ended = t.throwsAsync(waiting, { code: 'ERR_FLAKE_DETACHED' })
  await segment.close()
  await ended
  t.is(listenersOf(signal), 0)
})
