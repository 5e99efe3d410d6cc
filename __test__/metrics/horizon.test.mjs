// The warning FLAKEFORGE_HORIZON: from a year before a layout's end on, once per layout in a process. The layouts here
// have epochs so long ago that they end soon.

import { spawn } from 'node:child_process'
import test from 'ava'
import { replaceClocks } from '../support/clocks.mjs'
import { FlakeId, freshNode, manualClock, outputOf } from '../support/index.mjs'
import { joined } from '../support/lease.mjs'
import { until } from '../support/waits.mjs'

const DAY = 86_400_000
const YEAR = 365 * DAY

let names = 0

/**
 * A layout whose signedEnd and end are this many ms from now: 2^41 and 2^42 ticks of 1 ms, or one end if the top bit is
 * 0.
 */
function ending(inMs, { isSigned = false, now = Date.now() } = {}) {
  const bits = Object.entries(isSigned ? { zero: 1, timestamp: 41 } : { timestamp: 42 })
  const fields = [...bits, ['node', 10], ['counter', 12]]
  return {
    layout: { name: `ending-${names++}`, fields },
    epoch: now + inMs - 2 ** (isSigned ? 41 : 42),
    node: freshNode(),
  }
}

/** The same for its signedEnd, which comes 2^41 ms before its end. */
const signedEnding = (inMs) => ({ ...ending(0), epoch: Date.now() + inMs - 2 ** 41 })

/** The warnings from here on. */
function warningsOf(t) {
  const warnings = []
  const emitWarning = process.emitWarning
  t.teardown(() => {
    process.emitWarning = emitWarning
  })
  process.emitWarning = (message, { code }) => warnings.push({ message, code })
  return warnings
}

test.serial('a year before its end, a layout warns once, and says what to do', (t) => {
  const warnings = warningsOf(t)
  const options = ending(YEAR - DAY / 2, { isSigned: true })
  const flake = new FlakeId(options)
  t.is(warnings.length, 1)
  const [{ message, code }] = warnings
  t.is(code, 'FLAKEFORGE_HORIZON')
  t.true(message.includes(`Layout '${options.layout.name}' (epoch ${options.epoch})`), message)
  t.true(message.includes(`its end on ${flake.layout.end.toISOString()}, in 364 days`), message)
  t.regex(message, /ERR_FLAKE_TIME_RANGE.*move to a layout that ends later/)
  for (let i = 0; i < 3; i++) new FlakeId({ ...options, node: freshNode() })
  new FlakeId({ ...options, layout: flake.layout })
  t.is(warnings.length, 1)
  new FlakeId({ ...options, epoch: options.epoch - DAY })
  t.is(warnings.length, 2, 'with another epoch it is another layout')
})

test.serial('more than a year before, there is no warning', (t) => {
  const warnings = warningsOf(t)
  new FlakeId(ending(YEAR + DAY))
  new FlakeId(signedEnding(YEAR + DAY))
  new FlakeId()
  t.deepEqual(warnings, [])
})

test('new FlakeId() warns too, without options', async (t) => {
  const source = `
    Date.now = () => ${2 ** 41 - 30 * DAY}
    process.on('warning', ({ code }) => console.log(code))
    const FlakeId = require('flakeforge')
    new FlakeId()
    new FlakeId()`
  const program = spawn(process.execPath, ['--no-warnings', '-e', source], {
    cwd: import.meta.dirname,
    timeout: 60_000,
  })
  const { stdout } = await outputOf(program)
  t.is(stdout, 'FLAKEFORGE_HORIZON\n')
})

test.serial('signedEnd: the same, with what to do about columns', (t) => {
  const warnings = warningsOf(t)
  const { layout } = new FlakeId(signedEnding(30 * DAY + DAY / 2))
  t.is(warnings.length, 1)
  t.true(warnings[0].message.includes(`its signedEnd on ${layout.signedEnd.toISOString()}, in 30 days`))
  t.regex(warnings[0].message, /unsigned or numeric\(20\).*toSigned\(id\)/)
})

test.serial('an end that has passed: no warning, neither for uniqueid nor for others', (t) => {
  const warnings = warningsOf(t)
  for (const inMs of [-1000, -DAY, -40 * YEAR]) new FlakeId(signedEnding(inMs)).next()
  new FlakeId({ layout: 'uniqueid' }).next()
  new FlakeId(ending(10 * DAY)).next()
  t.deepEqual(
    warnings.map(({ message }) => /its (\w+) on/.exec(message)[1]),
    ['end'],
  )
})

test.serial("with a user's own clock there is no warning: the present is what that clock says", (t) => {
  const warnings = warningsOf(t)
  const { node, ...options } = ending(DAY)
  const flake = new FlakeId({ ...options, node, clock: manualClock(Date.now()) })
  flake.next()
  t.is(flake.stats.ids, 1)
  t.deepEqual(warnings, [])
})

test.serial('after one end the other is still checked', (t) => {
  const warnings = warningsOf(t)
  const flake = new FlakeId(signedEnding(DAY * 1.5))
  replaceClocks(t, { unixNow: () => Date.now() + 10 * YEAR })
  t.is(flake.stats.ids, 0)
  replaceClocks(t, { unixNow: () => flake.layout.end - 100 * DAY })
  t.is(flake.stats.ids, 0)
  t.deepEqual(
    warnings.map(({ message }) => /its (\w+) on .* in (\d+) days/.exec(message).slice(1, 3)),
    [
      ['signedEnd', '1'],
      ['end', '100'],
    ],
  )
})

const LONG_RUNNING = {
  'when stats are read': (flake) => flake.stats,
  'after a wait': (flake) => flake.take(9000), // more than a tick has
  'when another generator is created': (_, options) => new FlakeId(options),
}

for (const [when, act] of Object.entries(LONG_RUNNING)) {
  test.serial(`a process that runs into the last year gets the warning ${when}`, (t) => {
    const warnings = warningsOf(t)
    const options = { ...ending(YEAR + DAY, { isSigned: true }), maxWaitMs: 1000 }
    const flake = new FlakeId(options)
    act(flake, options)
    t.deepEqual(warnings, [])
    replaceClocks(t, { unixNow: () => Date.now() + 2 * DAY })
    act(flake, options)
    act(flake, options)
    t.is(warnings.length, 1)
    t.regex(warnings[0].message, /in 36[34] days/)
  })
}

test.serial('a lease: when it is joined, and when a renewal finds that a year is left', async (t) => {
  const warnings = warningsOf(t)
  const { node: _, ...soon } = ending(DAY, { isSigned: true })
  await joined(t, soon)
  t.is(warnings.length, 1)
  const { node: __, ...later } = ending(YEAR + 1500, { isSigned: true })
  await joined(t, later)
  t.is(warnings.length, 1)
  await until(() => warnings.length > 1)
  t.regex(warnings[1].message, new RegExp(`'${later.layout.name}'.* in 364 days`))
})

test.serial('worker threads and the main thread: one warning in a process; it can be turned off', async (t) => {
  const options = ending(DAY)
  const source = `
    const { Worker, isMainThread, workerData } = require('node:worker_threads')
    const make = (options) => new (require(${JSON.stringify(new URL('../../dist/index.cjs', import.meta.url).pathname)}))(options)
    make(${JSON.stringify(options)}).next()
    if (isMainThread) for (let i = 0; i < 2; i++) new Worker(__source, { eval: true })`
  const script = `const __source = ${JSON.stringify(source)}\n${source}`
  const run = (flags) => outputOf(spawn(process.execPath, [...flags, '--eval', script], { timeout: 60_000 }))
  const { code, stderr } = await run([])
  t.is(code, 0, stderr)
  t.is(stderr.match(/\[FLAKEFORGE_HORIZON\]/g)?.length, 1, stderr)
  t.is((await run(['--disable-warning=FLAKEFORGE_HORIZON'])).stderr, '')
})
