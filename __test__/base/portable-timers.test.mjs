// The timers of code that browsers load too: the real ones even where a test has replaced them with fakes, and the
// page's timers without Node.js.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import vm from 'node:vm'
import test from 'ava'

const file = createRequire(import.meta.url).resolve('../../target/rooms/lib/base/portable-timers.js')
const code = readFileSync(file, 'utf8')

/** Loads the module with these globals. */
function loadWith(globals) {
  const module = { exports: {} }
  const context = vm.createContext(globals)
  vm.runInContext(`(function (exports) { ${code} })`, context, { filename: file })(module.exports)
  return module.exports
}

const never = () => new Error('a fake')
const fake = (clock) => Object.assign(() => never(), { clock })

test('Node.js uses its own module, which no test fakes', (t) => {
  const { getBuiltinModule, hrtime } = process
  const timers = loadWith({
    process: { getBuiltinModule, hrtime },
    queueMicrotask,
    setTimeout: never,
    clearTimeout: never,
  })
  if (getBuiltinModule === undefined) return t.is(timers.setTimeout, never)
  t.is(timers.setTimeout, getBuiltinModule('node:timers').setTimeout)
  t.is(timers.clearTimeout, getBuiltinModule('node:timers').clearTimeout)
})

test('without that module, the real timers behind the fakes of @sinonjs/fake-timers are used', (t) => {
  const clock = { _setTimeout: setTimeout, _clearTimeout: clearTimeout, _queueMicrotask: queueMicrotask, _Date: Date }
  const fakes = { setTimeout: fake(clock), clearTimeout: fake(clock), queueMicrotask: fake(clock), Date: fake(clock) }
  const timers = loadWith({
    ...fakes,
    process: { hrtime: Object.assign(never, { clock: { _hrtime: process.hrtime } }) },
  })
  t.is(timers.setTimeout, setTimeout)
  t.is(timers.clearTimeout, clearTimeout)
  t.is(timers.queueMicrotask, queueMicrotask)
  t.is(timers.unixNow, Date.now)
  t.is(typeof timers.monotonicNow(), 'number')
})

test('a browser uses the timers of the page', (t) => {
  const page = { setTimeout, clearTimeout, queueMicrotask, performance: { now: () => 5.5 } }
  const timers = loadWith(page)
  t.is(timers.setTimeout, setTimeout)
  t.is(timers.monotonicNow(), 5.5)
  t.true(Math.abs(timers.unixNow() - Date.now()) < 60_000)
})

test('the clock advances in ms', async (t) => {
  const { monotonicNow, setTimeout } = createRequire(import.meta.url)(file)
  const start = monotonicNow()
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.true(monotonicNow() - start >= 18)
})
