// lib/stores/time-budget.ts: all time limits of leases and stores, and the sums of them that users were promised.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'
import { parseAst } from 'rolldown/parseAst'

const require = createRequire(import.meta.url)
const { sourcesIn } = require('../../scripts/imports.js')
const native = require('../../target/rooms/lib/native/index.js')
const { BUDGET, PACE, RENEWAL_STEP, promisesOf } = require('../../target/rooms/lib/stores/time-budget.js')

const ROOT = path.join(import.meta.dirname, '..', '..')
/** The shortest ttlMs, others, the default and the longest. */
const TTLS = [2_000, 2_999, 5_000, 12_345, 30_000, 60_000]
const T = Date.UTC(2026, 0, 1)

/** The promises that do not hold. */
const broken = (limits = BUDGET, share = RENEWAL_STEP) => [
  ...new Set(TTLS.flatMap((ttlMs) => promisesOf(limits, ttlMs, share)).flatMap(keptOrNot)),
]
const keptOrNot = ({ what, takes, within }) => (takes <= within ? [] : [what])

test('the promised sums hold for every ttlMs', (t) => {
  t.deepEqual(broken(), [])
})

test('changing one limit alone breaks its sum', (t) => {
  const changes = {
    RELEASE_MS: [4_100, 'close() ends within 5 s'],
    CLIENT_END_MS: [1_000, 'close() ends within 5 s', 'close() of a counter ends within 5 s'],
    COUNTER_END_MS: [4_100, 'close() of a counter ends within 5 s'],
    LAST_LOOK_MS: [1_000, 'join() ends within 1 s after waitMs'],
    CLIENT_AFTER_FAILURE_MS: [200, 'join() ends within 1 s after waitMs'],
    CALL_MS: [9_500, 'a call ends before its step', 'a query ends after its call'],
    STEP_MS: [9_000, 'a call ends before its step'],
    ANSWER_MS: [8_000, 'a call has an answer and a question'],
    STILL_RUNS_MS: [5_000, 'a call has an answer and a question'],
    QUERY_MS: [9_000, 'a query ends after its call'],
    CONNECT_MS: [6_000, 'a connection is made within an answer'],
    ACKNOWLEDGEMENT_MS: [6_000, 'replicas acknowledge within an answer'],
  }
  for (const [name, [ms, ...sums]] of Object.entries(changes)) {
    t.true(name in BUDGET, name)
    t.deepEqual(broken({ ...BUDGET, [name]: ms }), sums, name)
  }
  t.deepEqual(broken(BUDGET, 0.4), ['a renewal without an answer leaves a fifth of the window'])
})

/** A machine that holds a slot since T. */
function attached(ttlMs, fresh) {
  const machine = new native.LeaseMachine({ ttlMs, waitMs: 0 })
  machine.step({ type: 'attach' }, T, fresh)
  machine.step({ type: 'granted', owner: fresh, slot: 0, lo: T, hi: T + ttlMs }, T, fresh)
  return { machine, actions: machine.step({ type: 'opened', owner: fresh }, T, fresh) }
}

/** The core's times: when a window is renewed, when a missing answer is reported, and the pause after a failure. */
function paceOf(ttlMs, fresh) {
  const wakeAt = (actions) => actions.find(({ type }) => type === 'wait').at
  const { machine, actions } = attached(ttlMs, fresh)
  const renewedAt = wakeAt(actions)
  const toldAt = wakeAt(machine.step({ type: 'time' }, renewedAt, fresh))
  const told = machine.step({ type: 'time' }, toldAt, fresh)
  const failed = { type: 'failed', asked: 'renew', owner: fresh, failure: { why: 'store' } }
  const again = wakeAt(machine.step(failed, toldAt, fresh))
  return { renewal: renewedAt - T, told: toldAt - T, pause: again - toldAt, event: told.at(0) }
}

/** The pauses after failures in a row, as in core/src/lease/pace.rs; `random` from 0.9 to 1.1. */
const pausesOf = (ttlMs, random) => Array.from({ length: 20 }, (_, n) => random * Math.min(100 * 2 ** n, ttlMs / 6))

/**
 * The longest outage after which a renewal surely comes in time. It begins just before a renewal; each attempt fails after
 * `attempt` ms; the one after its end needs a second. At worst the last but one attempt comes just too early.
 */
function outageOf(ttlMs, attempt, pauses, margin) {
  const last = ttlMs - margin - 1_000
  let at = PACE.RENEWAL * ttlMs
  const gap = pauses
    .map((pause) => attempt + pause)
    .find((length) => {
      at += length
      return at > last
    })
  return last - gap - PACE.RENEWAL * ttlMs
}

test('an outage and a restart of the documented length have no effect, and a longer one may have', (t) => {
  const text = readFileSync(path.join(ROOT, 'docs/store/choosing.md'), 'utf8')
  const rows = [...text.matchAll(/^\| (\d\d),000 \| (\d+)\ss \| (\d+)\ss \| (\d+)\ss \|$/gm)]
  t.is(rows.length, 2)
  for (const [, ttl, without, outage, restart] of rows) {
    const ttlMs = ttl * 1_000
    t.is(Math.round((1 - PACE.RENEWAL) * Number(ttl)), Number(without))
    const shortest = [0, 0]
    for (const [i, margin] of [0, BUDGET.USUAL_SKEW_MS].entries()) {
      const found = []
      for (const random of [0.9, 1, 1.1])
        for (let attempt = 0; attempt <= BUDGET.ANSWER_MS; attempt += 100)
          found.push(outageOf(ttlMs, attempt, pausesOf(ttlMs, random), margin))
      shortest[i] = Math.min(...found) / 1_000
    }
    const [ofOutage, ofRestart] = shortest
    t.true(ofOutage >= outage && ofOutage < Number(outage) + 1.5, `outage with ${ttlMs}: ${ofOutage}`)
    t.true(ofRestart >= restart && ofRestart < Number(restart) + 1.5, `restart with ${ttlMs}: ${ofRestart}`)
  }
})

test('the core renews, reports and retries as the sums say', (t) => {
  for (const ttlMs of TTLS) {
    for (let i = 0; i < 2_000; i += 7) {
      const { renewal, told, pause, event } = paceOf(ttlMs, i.toString(16).padStart(32, '0'))
      t.true(renewal <= PACE.RENEWAL * ttlMs, `${ttlMs}: renewed after ${renewal}`)
      t.true(pause <= PACE.PAUSE * ttlMs, `${ttlMs}: again after ${pause}`)
      t.true(told <= Math.ceil(PACE.TOLD * ttlMs), `${ttlMs}: told after ${told}`)
      t.deepEqual(event, { type: 'tell', event: 'renewal-failed' })
    }
  }
})

// --- no other file has a number of milliseconds ---

/** The rooms whose limits are in time-budget.ts. */
const ROOMS = ['stores', 'lease'].map((room) => path.join(ROOT, 'lib', room))
const OF_TIME = /(?:ms|seconds?|timeout|backoff|pause)$/i
const WAITS = ['setTimeout', 'sleep', 'sleepUnlessAborted', 'inTime', 'within', 'timeout']
/** At once, or the first of the growing pauses. Also the factor that doubles a number. */
const SMALLEST = 2
/** A constant of time is a limit, however short it is. */
const CONSTANT = /^[A-Z][A-Z0-9_]*_(?:MS|SECONDS)$/

/** The name of an identifier, a property or a pattern. */
const textsOf = (node) => {
  if (node?.type === 'ArrayPattern') return node.elements.flatMap(textsOf)
  return [node?.name ?? node?.property?.name ?? node?.key?.name ?? ''].flat()
}

/** The names that a node gives to its contents. */
function namesOf(node) {
  switch (node.type) {
    case 'VariableDeclarator':
      return textsOf(node.id)
    case 'Property':
    case 'PropertyDefinition':
      return textsOf(node.key)
    case 'AssignmentPattern':
    case 'BinaryExpression':
      return [node.left, node.right].flatMap(textsOf)
    default:
      return []
  }
}

const isOfTime = (node) =>
  namesOf(node).some((name) => OF_TIME.test(name)) ||
  (node.type === 'CallExpression' && textsOf(node.callee).some((name) => WAITS.includes(name)))

/** The greatest number that the contents of a node may have: of a limit none, of another time the smallest, else any. */
function mostIn(node, most) {
  if (namesOf(node).some((name) => CONSTANT.test(name))) return 0
  if (isOfTime(node)) return Math.min(most, SMALLEST)
  return /Function/.test(node.type) ? Number.POSITIVE_INFINITY : most // a function has its own names; its name is not a time
}

/** The numbers of milliseconds in a source, as `file:line`. */
function numbersOf(file, text) {
  const found = new Set()
  const visit = (node, most) => {
    if (node.type === 'Literal' && typeof node.value === 'number' && node.value > most) {
      found.add(`${file}:${text.slice(0, node.start).split('\n').length}`)
    }
    const mostInside = mostIn(node, most)
    for (const part of Object.values(node).flat()) if (typeof part?.type === 'string') visit(part, mostInside)
  }
  visit(parseAst(text, { lang: 'ts' }), Number.POSITIVE_INFINITY)
  return [...found]
}

test('numbers of milliseconds are found', (t) => {
  const lines = [
    'const END_MS = 5_000',
    'const PING_MS = 1',
    'const LOCK_SECONDS = 1',
    'const [PATIENCE, LONGEST_PAUSE_MS] = [2, 250]',
    'const options = { connectTimeout: 5000 }',
    'within(end(), 900)',
    'setTimeout(() => close(), 1000)',
    'sleep(Math.random() * 250)',
    'const left = endsAt > startMs + 3000',
    'class Records { clockStepMs = 999 }',
    'function wait(ms = 4000) {}',
    'fetch(url, { signal: AbortSignal.timeout(3e3) })',
  ]
  for (const line of lines) t.deepEqual(numbersOf('x.ts', line), ['x.ts:1'], line)
  for (const line of [
    'const MOST = 1000',
    'const PORT = 3306',
    "const TEXT = 'within 5 s'",
    'sleep(0)',
    'let pause = 1',
  ]) {
    t.deepEqual(numbersOf('x.ts', line), [], line)
  }
})

test('they are in time-budget.ts and nowhere else', (t) => {
  const others = ROOMS.flatMap(sourcesIn).filter((file) => !file.endsWith(`${path.sep}time-budget.ts`))
  t.true(others.length > 60)
  const found = others.flatMap((file) => numbersOf(path.relative(ROOT, file), readFileSync(file, 'utf8')))
  t.deepEqual(found, [])
})
