// The addon by itself: whatever JavaScript passes to it, the answer is a result or an error, and never the end of the
// process. Programs reach it through lib/, which checks its input; anyone can require its package.

import { execFile } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { until } from '../support/waits.mjs'

const root = path.join(import.meta.dirname, '..', '..')
const require = createRequire(import.meta.url)
const addon = path.join(root, require('../../scripts/pack.js').ownPlatform().manifest.main)
const native = require(addon)
const KNOBS = { node: 1, seqMask: 4095, maxAheadMs: 0, validityMs: 0, ownClock: false }

for (const seed of [1, 2, 3, 4]) {
  test(`calls of every function with arbitrary values, seed ${seed}`, async (t) => {
    const cwd = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-native-'))
    t.teardown(() => fs.rmSync(cwd, { recursive: true }))
    const program = path.join(import.meta.dirname, 'native-fuzz.cjs')
    const env = { ...process.env, RUST_BACKTRACE: '0' }
    const run = promisify(execFile)(process.execPath, [program, addon, seed, 20_000], { cwd, env })
    const { returned, thrown } = JSON.parse((await run).stdout)
    t.is(returned + thrown, 20_000)
    t.true(returned > 2000 && thrown > 2000)
  })
}

test('the scratch array has to be memory that cannot be transferred', (t) => {
  const refused = { code: 'InvalidArg', message: /SharedArrayBuffer/ }
  t.throws(() => new native.Generators(new Uint8Array(new ArrayBuffer(88))), refused)
  t.throws(() => new native.Generators(new Uint8Array(new ArrayBuffer(88, { maxByteLength: 200 }))), refused)
  t.throws(() => new native.Generators(new Uint8Array(new WebAssembly.Memory({ initial: 1 }).buffer, 0, 88)), refused)
  t.throws(() => new native.Generators(new Uint8Array(new SharedArrayBuffer(80))), refused)
  t.throws(() => new native.Generators(new Uint8Array(new SharedArrayBuffer(96), 1, 88)), refused)
  t.throws(() => new native.Generators({ length: 88 }))
  const memory = new SharedArrayBuffer(88)
  const generators = new native.Generators(new Uint8Array(memory))
  t.throws(() => structuredClone(memory, { transfer: [memory] }))
  new Uint32Array(memory, 16, 1)[0] = generators.open(new native.Layout({ name: 'flake' }), KNOBS).index
  t.is(generators.functions().claim(), undefined)
  t.not(new BigUint64Array(memory, 8, 1)[0], 0n)
})

test('an ID does not come back unsealed: without its seal, the call throws', async (t) => {
  const memory = new SharedArrayBuffer(88)
  const [id, index] = [new BigUint64Array(memory, 8, 1), new Uint32Array(memory, 16, 1)]
  const generators = new native.Generators(new Uint8Array(memory))
  const { seal, open } = generators.functions()
  const make = () => new native.Seal(generators, new Uint8Array(16), new Uint8Array(0))
  id[0] = 5n
  for (const call of [seal, open]) t.throws(call, { message: 'no seal has this index' })
  t.is(id[0], 5n)
  let kept = make()
  index[0] = kept.index
  seal()
  t.not(id[0], 5n)
  open()
  t.is(id[0], 5n)
  kept = undefined
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc')
  const isGone = () => {
    gc()
    try {
      seal()
      return false
    } catch {
      return true
    }
  }
  await until(isGone, { everyMs: 0 }) // finalizers run between two turns
  t.is(make().index, index[0]) // so indexes do not run out
})

for (const [what, wrong, message] of [
  ['a negative number', { node: -1 }, /^-1 is not a whole number/],
  ['a fraction', { node: 1.5 }, /^1\.5 is not a whole number/],
  ['NaN', { node: Number.NaN }, /^NaN is not a whole number/],
  ['more than 2^53', { seqMask: 2 ** 53 }, /^9007199254740992 is not a whole number/],
  ['more than 32 bits', { prefetch: 2 ** 32 + 1 }, /^4294967297 is not a whole number/],
  ['a duration below 0', { validityMs: -1 }, /^-1 is not a duration/],
  ['a duration of NaN', { maxAheadMs: Number.NaN }, /^NaN is not a duration/],
  ['a node that the layout does not have', { node: 1024 }, /^node 1024 is above 1023/],
  ['a counter that the layout does not have', { seqMask: 8191 }, /^8191 is no mask of a counter/],
]) {
  test(`${what} is an error, not another number`, (t) => {
    const generators = new native.Generators(new Uint8Array(new SharedArrayBuffer(88)))
    t.throws(() => generators.open(new native.Layout({ name: 'flake' }), { ...KNOBS, ...wrong }), { message })
  })
}

const TOKEN = `00${'9f'.repeat(15)}`

for (const [what, call, message] of [
  ['a token with too few digits', (machine) => machine.step({ type: 'attach' }, 0, '9f'), /"9f" is not a token/],
  ['a token in capitals', (machine) => machine.awaits('renew', TOKEN.toUpperCase()), /is not a token/],
  [
    'the owner in an event',
    (machine) => machine.step({ type: 'lost', owner: `+${TOKEN}` }, 0, TOKEN),
    /is not a token/,
  ],
  ['a call that does not exist', (machine) => machine.awaits('acquired', TOKEN), /"acquired" is not a call/],
  ['a time that is a fraction', (machine) => machine.step({ type: 'time' }, 0.5, TOKEN), /0\.5 is not a whole number/],
  [
    'a window of NaN',
    (machine) => machine.step({ type: 'renewed', owner: TOKEN, lo: Number.NaN, hi: 1 }, 0, TOKEN),
    /NaN/,
  ],
  ['a negative bigint', (_, start) => start({ type: 'advance', by: -1n, durable: true }), /is not from 0 to/],
  ['a bigint of 65 bits', (_, start) => start({ type: 'skipTo', place: 2n ** 64n, durable: true }), /is not from 0 to/],
  [
    'the start of a counter',
    (_, start) => start({ type: 'advance', by: 1n, init: -1n, durable: true }),
    /not from 0 to/,
  ],
]) {
  test(`a lease or a step is not told another value: ${what}`, (t) => {
    const machine = new native.LeaseMachine({ ttlMs: 30000, waitMs: 1000 })
    const start = (task) => new native.StoreMemory().step('name', task, TOKEN)
    t.throws(() => call(machine, start), { code: 'InvalidArg', message })
  })
}

test('a token keeps its digits, and a bigint its 64 bits', (t) => {
  const machine = new native.LeaseMachine({ ttlMs: 30000, waitMs: 1000 })
  t.like(machine.step({ type: 'attach' }, 0, TOKEN), [{ type: 'acquire', owner: TOKEN }])
  const step = new native.StoreMemory().step('name', { type: 'skipTo', place: 2n ** 64n - 1n, durable: true }, TOKEN)
  const { names } = step.begin()
  const look = { now: 1e12, history: 'h', process: 'p', values: names.map(() => null), before: 1e12, after: 1e12 }
  t.regex(step.read(look, TOKEN).to, /\b18446744073709551615\b/)
})

test('every whole number that JavaScript passes is checked', (t) => {
  const sources = fs
    .readdirSync(path.join(root, 'src'))
    .map((name) => fs.readFileSync(path.join(root, 'src', name), 'utf8'))
  const types = sources.flatMap(
    (source) =>
      source.match(
        /^( *)#\[napi\((?!.*object_from_js = false).*\)\]\n(?: *#\[.*\]\n)*\1pub (?:struct|enum) [\s\S]*?^\1\}/gm,
      ) ?? [],
  )
  t.true(types.length >= 9)
  for (const type of types) t.notRegex(type, /: (?:Option<|Vec<)*[iu](?:32|64)\b/)
  const functions = sources.flatMap(
    (source) => source.match(/^ *#\[napi\(.*catch_unwind\)\]\n *pub (?:unsafe )?fn [^{]*\{/gm) ?? [],
  )
  t.true(functions.length > 50)
  for (const call of functions) t.notRegex(call.split('->')[0], /: (?:Option<|Vec<)*[iu](?:32|64)\b/)
})
