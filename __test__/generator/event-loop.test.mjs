// Waiting calls and the event loop: it turns however many calls there are and whatever their callbacks do, and one
// timer, which never waits long, is armed for all of them. Anything that ends or outlives a process runs in a child
// process.

import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import test from 'ava'
import { called, FlakeId, jsonOfChild, manualClock, outputOf, real, turn, until, useUp } from '../support/index.mjs'
import { opened } from '../support/segment.mjs'

/** For the `--import` of a child whose clocks are replaced. */
const CLOCKS = import.meta.resolve('../support/clocks.mjs')

const MANY = 1_000_000 // calls in sequence; far fewer happen before a timer fires
const endless = () => real({ layout: 'chronicle', id: 1 }) // never has to wait

// --- other work gets its turn ---

/** Ways to keep requesting IDs until `isOver()`; each resolves to the number of IDs. */
const ways = {
  'next(callback)': (flake, isOver) =>
    new Promise((resolve, reject) => {
      let made = 0
      const again = (error) => {
        if (error) reject(error)
        else if (++made === MANY || isOver()) resolve(made)
        else flake.next(again)
      }
      flake.next(again)
    }),
  nextAsync: async (flake, isOver) => {
    let made = 0
    while (++made < MANY && !isOver()) await flake.nextAsync()
    return made
  },
}

const ofFlakeId = {
  ...ways,
  takeAsync: async (flake, isOver) => {
    let made = 0
    while (++made < MANY && !isOver()) await flake.takeAsync(1)
    return made
  },
  'for await': async (flake, isOver) => {
    let made = 0
    for await (const _ of flake) if (++made === MANY || isOver()) break
    return made
  },
}

/** Requests IDs until a timer has fired and the event loop has turned a few times; returns the number of IDs. */
async function untilTimer(generator, ask) {
  let turns = 0
  setTimeout(function again() {
    turns++
    setTimeout(again, 1).unref()
  }, 1)
  return ask(generator, () => turns >= 5)
}

for (const [name, ask] of Object.entries(ofFlakeId))
  test(`endless ${name} lets timers fire`, async (t) => {
    t.true((await untilTimer(endless(), ask)) < MANY)
  })

for (const [name, ask] of Object.entries(ways))
  test(`SegmentId: endless ${name} lets timers fire`, async (t) => {
    const { segment } = await opened(t, { block: 2 ** 32 })
    t.true((await untilTimer(segment, ask)) < MANY)
  })

test('AbortSignal.timeout() ends a pipeline of IDs', async (t) => {
  let made = 0
  const count = async (ids) => {
    for await (const _ of ids) if (++made === MANY) break
  }
  const done = pipeline(Readable.from(endless()), count, { signal: AbortSignal.timeout(10) })
  await t.throwsAsync(done, { name: 'AbortError' })
})

test('SIGTERM is handled while IDs are generated', async (t) => {
  const child = spawn(process.execPath, [
    '--input-type=module',
    '--eval',
    `import FlakeId from ${JSON.stringify(new URL('../../dist/index.cjs', import.meta.url).href)}
    process.on('SIGTERM', () => process.exit(7))
    let made = 0
    for await (const _ of new FlakeId({ layout: 'chronicle' })) {
      if (++made === 1000) console.log('ready')
      if (made === 20 * ${MANY}) process.exit(1)
    }`,
  ])
  child.stdout.once('data', () => child.kill('SIGTERM'))
  t.like(await outputOf(child), { code: 7, stdout: 'ready\n', stderr: '' })
})

/** The most of these calls whose callbacks ran within one turn of the event loop. */
async function mostInOneTurn(flake, calls, callback) {
  let turns = 0
  let isOver = false
  const counts = new Map()
  const told = []
  setImmediate(function again() {
    turns++
    if (!isOver) setImmediate(again)
  })
  for (let i = 0; i < calls; i++) {
    flake.next(() => {
      callback()
      counts.set(turns, (counts.get(turns) ?? 0) + 1)
      told.push(i)
    })
  }
  await until(told, calls)
  isOver = true
  return Math.max(...counts.values())
}

test('slow callbacks run one or two per turn of the event loop', async (t) => {
  const workHard = () => {
    const end = performance.now() + 2
    while (performance.now() < end);
  }
  t.true((await mostInOneTurn(endless(), 20, workHard)) <= 2)
})

test('100 000 callbacks run in several turns of the event loop', async (t) => {
  t.true((await mostInOneTurn(endless(), 100_000, () => {})) < 100_000)
})

test('of the calls that wait together, only some are served before the first callback', async (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock })
  useUp(flake)
  const { ids } = flake.stats
  const served = []
  for (let i = 0; i < 2000; i++) flake.next(() => served.push(flake.stats.ids - ids))
  clock.now += 1
  await until(served, 2000)
  t.true(served[0] < 2000)
  t.is(served.at(-1), 2000)
})

test('endless generators share the time', async (t) => {
  const made = [0, 0, 0]
  let all = 0
  await Promise.all(
    made.map((_, i) =>
      ways['next(callback)'](real({ layout: 'chronicle', id: 2 + i }), () => {
        made[i]++
        return ++all > 300_000
      }),
    ),
  )
  t.true(Math.min(...made) > 30_000, `${made}`)
})

test('callbacks that call again do not pile up: the queue drops those it has called', async (t) => {
  const grown = await jsonOfChild(
    t,
    `const flake = new FlakeId({ layout: 'chronicle' })
    const heap = () => { gc(); return process.memoryUsage().heapUsed }
    const run = (n) => new Promise((resolve) => flake.next(function again() { n-- > 0 ? flake.next(again) : resolve() }))
    await run(10_000)
    const before = heap()
    let most = 0
    for (let i = 0; i < 2; i++) {
      const chain = run(1_000_000)
      flake.next(() => {}) // there is always another that waits
      await chain
      most = Math.max(most, heap() - before)
    }
    console.log(most)`,
    ['--expose-gc'],
  )
  t.true(grown < 4e6, `${grown} bytes more`)
})

// --- the one timer ---

/** Records the delays passed to setTimeout. */
const TIMEOUTS = `
  const armed = []
  const { clocks } = await import('${CLOCKS}')
  clocks.setTimeout = (callback, ms) => { armed.push(ms); return setTimeout(callback, ms) }
  const ahead = (ms) => new FlakeId({ seqMask: 1, maxAheadMs: Infinity }).take(2 * ms)
  const flake = new FlakeId()
`

test('a wait is not planned longer than necessary', async (t) => {
  const waits = await jsonOfChild(
    t,
    `${TIMEOUTS}
    const waits = []
    for (let i = 0; i < 10; i++) {
      ahead(50)
      const refused = () => { try { flake.next() } catch (error) { return error.message } }
      const message = refused()
      const id = flake.nextAsync()
      if (armed.length > 0) waits.push({ message, planned: armed[0] }) // else this process was held up for 50 ms
      await id
      armed.length = 0
    }
    console.log(JSON.stringify(waits))`,
    ['--import', CLOCKS],
  )
  t.true(waits.length > 0)
  for (const { planned, message } of waits) t.true(planned <= Number(/in ([\d.]+) ms/.exec(message)[1]))
})

test('no wait is planned longer than a second: a clock that was corrected meanwhile is noticed', async (t) => {
  const { armed, paused } = await jsonOfChild(
    t,
    `${TIMEOUTS}
    const paused = []
    const { wait } = Atomics
    Atomics.wait = (cell, index, value, ms) => { paused.push(ms); wait(cell, index, value, ms) }
    ahead(1900)
    flake.next(() => {})
    new FlakeId({ maxWaitMs: 10_000 }).next()
    process.on('exit', () => console.log(JSON.stringify({ armed, paused })))`,
    ['--import', CLOCKS],
  )
  t.is(Math.max(...armed), 1000)
  t.is(Math.max(...paused), 1000, 'nor in a synchronous call')
})

test('a generator that has waited is not kept in memory', async (t) => {
  const isGone = await jsonOfChild(
    t,
    `const clock = () => clock.now
    clock.now = 1e12
    const wait = async () => {
      const flake = new FlakeId({ clock, seqMask: 1 })
      flake.take(2)
      const id = flake.nextAsync()
      clock.now++
      await id
      return new WeakRef(flake)
    }
    const ref = await wait()
    for (let i = 0; i < 50 && ref.deref(); i++) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      gc()
    }
    console.log(ref.deref() === undefined)`,
    ['--expose-gc'],
  )
  t.true(isGone)
})

// --- blocking calls ---

/**
 * Records the timeouts passed to Atomics.wait. After the first waits, another generator moves the cursor ahead again.
 */
const PAUSES = `
  const paused = []
  const { wait } = Atomics
  const withRival = (options, waits = Infinity) => {
    const rival = new FlakeId(options)
    const useUp = () => { try { for (;;) rival.next() } catch {} }
    Atomics.wait = (cell, index, value, ms) => {
      paused.push(ms)
      wait(cell, index, value, ms)
      if (paused.length <= waits) useUp()
    }
    useUp()
    return useUp
  }
`

test('a blocking call sleeps longer while other generators are faster, tick by tick', async (t) => {
  const paused = await jsonOfChild(
    t,
    `${PAUSES}
    const useUp = withRival({ seqMask: 1, maxAheadMs: 20 }, 15)
    do {
      paused.length = 0
      useUp()
      new FlakeId({ seqMask: 1, maxWaitMs: 60_000 }).next()
    } while (paused.length < 10) // this process was held up for 20 ms
    console.log(JSON.stringify(paused))`,
  )
  t.true(paused[0] <= 21, 'the first wait is until the next tick')
  t.true(Math.max(...paused) > 22)
  t.true(Math.max(...paused) <= 29)
})

test('a blocking call does not sleep past maxWaitMs for that', async (t) => {
  const waits = await jsonOfChild(
    t,
    `${PAUSES}
    withRival({ seqMask: 1, maxAheadMs: 5 })
    const waits = []
    for (let maxWaitMs = 30; maxWaitMs < 60; maxWaitMs++) {
      try { new FlakeId({ seqMask: 1, maxWaitMs }).next() } catch {}
      waits.push({ maxWaitMs, planned: paused.splice(0).reduce((sum, ms) => sum + ms, 0) })
    }
    console.log(JSON.stringify(waits))`,
  )
  t.is(waits.length, 30)
  for (const { maxWaitMs, planned } of waits) t.true(planned < maxWaitMs + 0.5, `${planned} of ${maxWaitMs} ms`)
})

test('a batch of a generator that runs ahead sleeps once for all its IDs', async (t) => {
  const paused = await jsonOfChild(
    t,
    `${PAUSES}
    withRival({ layout: 'hazelcast', maxWaitMs: 0 }, 0)
    new FlakeId({ layout: 'hazelcast' }).take(64 * 600)
    console.log(JSON.stringify(paused))`,
  )
  t.true(paused[0] > 2 && paused[0] <= 600, 'longer than until the next tick')
})

// --- iterators ---

/** An iterator on a stopped clock, with two waiting calls of next(). */
function waiting() {
  const clock = manualClock()
  const flake = new FlakeId({ clock })
  useUp(flake)
  const ids = flake[Symbol.asyncIterator]()
  return { clock, flake, ids, calls: [ids.next(), ids.next()] }
}

test('return() of an iterator does not wait for next(), whose calls end without an ID', async (t) => {
  const { clock, flake, ids, calls } = waiting()
  const returned = ids.return('why')
  t.deepEqual(await Promise.race([returned, turn()]), { done: true, value: 'why' })
  t.deepEqual(await Promise.all(calls), [
    { done: true, value: undefined },
    { done: true, value: undefined },
  ])
  t.deepEqual(await ids.next(), { done: true, value: undefined })
  t.deepEqual(await ids.return(), { done: true, value: undefined })
  clock.now += 1
  t.is(flake.decode(await called(flake)).counter, 0, 'they took no number')
})

test('an iterator ends with an error', async (t) => {
  const { clock, ids, calls } = waiting()
  clock.now = -1
  await t.throwsAsync(calls[0], { code: 'ERR_FLAKE_TIME_RANGE' })
  t.deepEqual(await calls[1], { done: true, value: undefined })
  t.deepEqual(await ids.next(), { done: true, value: undefined })
})

test('an iterator that has returned does not keep the process alive', async (t) => {
  const ended = await jsonOfChild(
    t,
    `const flake = new FlakeId({ clock: () => 1e12, seqMask: 1 })
    flake.take(2)
    const ids = flake[Symbol.asyncIterator]()
    const call = ids.next()
    await ids.return()
    console.log(JSON.stringify(await call))`,
  )
  t.deepEqual(ended, { done: true })
})

test('an iterator is iterable, and ends with the loop', async (t) => {
  const ids = endless()[Symbol.asyncIterator]()
  const first = await ids.next()
  for await (const id of ids) {
    t.true(Buffer.compare(id, first.value) > 0)
    break
  }
  t.deepEqual(await ids.next(), { done: true, value: undefined })
})
