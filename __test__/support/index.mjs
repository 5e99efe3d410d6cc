// Helpers for several test files: node numbers that nothing else in the process uses, a clock that is moved by hand,
// the check of an error's code, and child processes for tests that end or outlive a process.

import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { limited, until as untilTrue } from './waits.mjs'

const require = createRequire(import.meta.url)

fc.configureGlobal({ includeErrorInReport: true }) // ava does not show an error's cause

export const FlakeId = require('flakeforge')

/** `flakeforge/lease`. */
export const lease = require('flakeforge/lease')
export const vectors = (name) => require(`../vectors/${name}.json`)

let lastNode = 0

/** An unused node number: generators on the real clock share a cursor with all others of their node. */
export function freshNode() {
  lastNode += 1
  if (lastNode > 1023) throw new Error('this test file uses more than 1023 nodes')
  return lastNode
}

export const SOME_TIME = 1700000000000

/** A clock that does not move until it is told to: `clock` is the option, `clock.now` the time. */
export function manualClock(now = SOME_TIME) {
  const clock = () => clock.now
  clock.now = now
  return clock
}

export const hexOf = (id) => Buffer.from(id).toString('hex')
export const numberOf = (id) => (typeof id === 'bigint' ? id : BigInt(`0x${hexOf(id)}`))

/** Asserts that `call` throws `Type` with this code, and returns the error for more assertions. */
export function throwsCode(t, call, code, Type = Error) {
  const error = t.throws(call, { instanceOf: Type, code })
  t.is(Object.getPrototypeOf(error), Type.prototype, 'the very type, not one derived from it')
  return error
}

/** Whether a call does not throw. */
export const takes = (call) => {
  try {
    call()
    return true
  } catch {
    return false
  }
}

/** Uses up the present tick of a generator whose clock is stopped. */
export function useUp(flake) {
  for (;;) {
    try {
      flake.nextBigInt()
    } catch (error) {
      if (error.code === 'ERR_FLAKE_OVERFLOW') return
      throw error
    }
  }
}

/** True if each ID is larger than the one before it, which makes them unique as well. */
export function isAscending(ids) {
  let last = -1n
  for (const id of ids) {
    const value = numberOf(id)
    if (value <= last) return false
    last = value
  }
  return true
}

/** Promises of `next(callback)`, one for each ID. */
export const called = (flake) =>
  new Promise((resolve, reject) => {
    flake.next((error, id) => (error ? reject(error) : resolve(id)))
  })

export const turn = () => new Promise((resolve) => setImmediate(resolve))

export const BASES = ['dec', 'hex', 'bin', 'oct', 'base32', 'base36', 'base58', 'base62', 'tid']
export const PER_TICK = 4096
export const LAST_TICK = 2 ** 42 - 1
export const PATIENT = { maxWaitMs: 10_000 } // a synchronous call that waits for the next tick instead of throwing

export const fixed = (options = {}) => new FlakeId({ clock: () => SOME_TIME, ...options })
export const real = (options = {}) => new FlakeId({ id: freshNode(), ...options })

/** The IDs of `take(n)` or `takeBigInts(n)`, one by one. */
export const split = (ids) =>
  ids instanceof BigUint64Array
    ? [...ids]
    : Array.from({ length: ids.length / 8 }, (_, i) => ids.subarray(i * 8, i * 8 + 8))

/** n outcomes of `call`: IDs as bigints, errors as their codes. */
export function outcomes(n, call) {
  return Array.from({ length: n }, () => {
    try {
      return numberOf(call())
    } catch (error) {
      return error.code
    }
  })
}

/** The calls that give one ID, and throw if none is available. */
export const syncCalls = {
  next: (flake) => flake.next(),
  nextBigInt: (flake) => flake.nextBigInt(),
  nextString: (flake) => flake.nextString(),
}

/** Moves the cursor of a node this many ms ahead of the real clock. */
export function putAhead(id, ms) {
  new FlakeId({ id, seqMask: 1, maxAheadMs: Number.POSITIVE_INFINITY }).takeBigInts(ms * 2)
}

const PRELUDE = ['FlakeId from ../../dist/index.cjs', 'lease from ../../dist/lease.cjs']
  .map((line) => line.split(' from '))
  .map(([name, file]) => `import ${name} from ${JSON.stringify(new URL(file, import.meta.url).href)}\n`)
  .join('')
const CHILD_MS = 60_000 // a child that hangs is a failure, not a slow one

/** The output and the exit of a child process, once it has ended. */
export function outputOf(child) {
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text
    })
  }
  const end = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, ...output }))
  })
  return limited(end, () => `the end of ${child.spawnargs.join(' ')}. Its output: ${JSON.stringify(output)}`)
}

/** Runs an ES module in a separate process, with `FlakeId` imported, until it ends without help. */
export const runChild = (source, flags = []) =>
  outputOf(
    spawn(process.execPath, [...flags, '--input-type=module', '--eval', PRELUDE + source], { timeout: CHILD_MS }),
  )

/** Runs a child that prints one JSON value, and returns that value. */
export async function jsonOfChild(t, source, flags) {
  const { code, signal, stdout, stderr } = await runChild(source, flags)
  t.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' })
  return JSON.parse(stdout)
}

// For tests of text and of IDs in their other forms.

export const MAX = 2n ** 64n - 1n
export const RUNS = 4000

/** A property that must hold; its predicate returns false or throws where it does not. */
export function holds(t, arbitraries, predicate, numRuns = RUNS) {
  t.notThrows(() => fc.assert(fc.property(...arbitraries, predicate), { numRuns }))
}

/** IDs as bigints, including small ones, large ones and single bits. */
export const ids = fc.oneof(
  fc.bigInt({ min: 0n, max: MAX }),
  fc.bigInt({ min: 0n, max: 70n }),
  fc.bigInt({ min: MAX - 70n, max: MAX }),
  fc.nat({ max: 63 }).map((bit) => 1n << BigInt(bit)),
)

export const bufferOf = (id) => Buffer.from(id.toString(16).padStart(16, '0'), 'hex')

/** The digits of the bases that have a fixed width. */
export const ALPHABETS = {
  base32: '0123456789ABCDEFGHJKMNPQRSTVWXYZ',
  base36: '0123456789abcdefghijklmnopqrstuvwxyz',
  base58: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
  base62: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  tid: '234567abcdefghijklmnopqrstuvwxyz',
}

/** How many digits of this alphabet this many bytes need. */
export function widthOf(alphabet, bytes) {
  let width = 0
  for (let count = 1n; count < 1n << BigInt(bytes * 8); count *= BigInt(alphabet.length)) width++
  return width
}

/** A number with these digits, at least this many. */
export function inAlphabet(id, alphabet, width) {
  let digits = ''
  const radix = BigInt(alphabet.length)
  for (let rest = numberOf(id); digits.length < width || rest > 0n; rest /= radix) {
    digits = alphabet[rest % radix] + digits
  }
  return digits
}

// For tests of calls that wait.

export const OUTSTANDING = 20_000
export const HOUR = 3_600_000

/** Calls next(callback) n times and records each callback: which call it was for, and its arguments. */
export function submit(flake, n, record) {
  for (let i = 0; i < n; i++) flake.next((error, id) => record.push({ i, error, id }))
}

/** Waits until a list has n entries. */
export const until = (list, n) =>
  untilTrue(() => list.length >= n, { state: () => `the list has ${list.length} of ${n} entries`, everyMs: 1 })

/** Advances the clock, tick by tick, until a promise is settled: a busy machine may miss any single tick. */
export async function turnOnUntil(clock, promise) {
  let settled = false
  promise.finally(() => {
    settled = true
  })
  await untilTrue(
    () => {
      clock.now += settled ? 0 : 1
      return settled
    },
    { everyMs: 2, state: () => 'the promise is settled' },
  )
  return promise
}

export const inOrder = (record) => record.every(({ i }, place) => i === place)
export const allWell = (record) =>
  record.every(({ error, id }) => error === null && Buffer.isBuffer(id) && id.length === 8)
