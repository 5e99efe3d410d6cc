'use strict'

// Calls every function of the addon with arbitrary values, as no code of ours does. `node native-fuzz.cjs ADDON SEED ROUNDS`, in
// an empty folder. Prints how many calls returned and how many threw.

const [addon, seed, rounds] = process.argv.slice(2)
const native = require(addon)

let state = Number(seed)
/** A random number from 0 to n − 1: mulberry32. */
function below(n) {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) % n
}
const one = (list) => list[below(list.length)]

const NUMBERS = [
  0,
  1,
  -1,
  5,
  63,
  64,
  1023,
  4095,
  4096,
  0.5,
  -0,
  Number.NaN,
  Infinity,
  -Infinity,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  2 ** 63,
  2 ** 64,
  1e300,
  1577836800000,
]
const TEXTS = [
  '',
  'a',
  'flake',
  'hazelcast',
  'chronicle',
  'dec',
  'timestamp',
  'counter',
  'acquire',
  '0'.repeat(32),
  'f'.repeat(33),
  '\0',
  '\ud800',
  'é'.repeat(300),
]
const BIGINTS = [0n, 1n, -1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n, -(2n ** 63n), 2n ** 200n]
const detached = new Uint8Array(64)
structuredClone(detached.buffer, { transfer: [detached.buffer] })
const ARRAYS = [
  detached,
  new Uint8Array(0),
  new Uint8Array(7),
  new Uint8Array(16),
  new Uint8Array(88),
  new Float64Array(11),
  new Uint8Array(new SharedArrayBuffer(88)),
]
const KEYS =
  'name spec epoch nodes mode idOffset tickNs names widths node seqMask maxAheadMs isStartRandom prefetch validityMs ownClock group fingerprint slots scale epochMs counterBits ttlMs skewMs durable waitMs type config owner host slot hi lo last by init place now history process values position before after asked failure why retryAt storeNow'.split(
    ' ',
  )
const TYPES =
  'create join acquire renew release destroy restored list exists advance skipTo counterRestored attach seek detach time giveUp renewNow opened inUse ended granted renewed lost destroyed released failed store passing quiet exhausted skew fatal'.split(
    ' ',
  )

/** Options that are right, so that a random change of one of them gets as far as it can. */
const CONFIG = { fingerprint: 'f', slots: 4, ttlMs: 30000, skewMs: 5000, durable: false }
const KNOBS = { node: 1, seqMask: 4095, maxAheadMs: 0, validityMs: 0, ownClock: false }
const RIGHT = [
  { name: 'flake' },
  { name: 'mine', spec: { tickNs: 1e6, names: ['timestamp', 'node', 'counter'], widths: [41, 10, 13] } },
  KNOBS,
  { ...KNOBS, ownClock: true },
  { ...CONFIG, scale: { epochMs: 0, tickNs: 1e6, counterBits: 12 } },
  { type: 'create', config: CONFIG },
  { type: 'acquire', config: CONFIG, owner: '1'.repeat(32), host: 'h' },
  { type: 'advance', by: 5n, durable: false },
  { now: Date.now(), history: 'h', process: 'p', values: [null], before: Date.now(), after: Date.now() },
  { ttlMs: 30000, waitMs: 1000 },
  { type: 'granted', owner: '1'.repeat(32), slot: 1, lo: 0, hi: 10 },
  { type: 'failed', asked: 'acquire', owner: '1'.repeat(32), failure: { why: 'quiet', retryAt: 1, storeNow: 1 } },
]

const pool = []
function value(depth = 0) {
  switch (below(depth > 2 ? 6 : 11)) {
    case 0:
    case 1:
      return one(NUMBERS)
    case 2:
      return one(TEXTS)
    case 3:
      return one(BIGINTS)
    case 4:
      return one([undefined, null, true, false, Symbol('s'), () => 1])
    case 5:
      return one(ARRAYS)
    case 6:
      return Array.from({ length: below(4) }, () => value(depth + 1))
    case 7:
      return Object.fromEntries([
        ...Array.from({ length: below(6) }, () => [one(KEYS), value(depth + 1)]),
        ['type', one(TYPES)],
      ])
    case 8:
      return { ...one(RIGHT) }
    case 9:
      return { ...one(RIGHT), [one(KEYS)]: value(depth + 1) }
    default:
      return pool.length > 0 ? one(pool) : {}
  }
}

const functions = Object.values(native).filter((each) => typeof each === 'function')
const classes = functions.filter((each) => /^[A-Z]/.test(each.name))
let [returned, thrown] = [0, 0]
const scratch = new Uint8Array(new SharedArrayBuffer(88))

/** Everything that can be called on an object of the addon. */
function members(of) {
  const found = []
  for (let at = of; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    found.push(...Object.getOwnPropertyNames(at))
  return found.filter((name) => name !== 'constructor')
}

const keep = (made) => {
  if (!classes.some((each) => made instanceof each)) return
  if (pool.length < 300) pool.push(made)
  else pool[5 + below(295)] = made
}

/** What one call may do: make an object, call a function, or use an object of the addon. */
function call() {
  const args = Array.from({ length: below(6) }, () =>
    below(3) > 0 && pool.length > 0 ? one([one(pool), one(RIGHT), value(9)]) : value(),
  )
  const kind = below(10)
  if (kind === 0) return new (one(classes))(...args)
  if (kind === 1) return new native.Generators(below(8) === 0 ? value() : scratch)
  if (kind === 2) return new native.Layout(value())
  if (kind < 5 || pool.length === 0) return one(functions)(...args)
  const of = one(pool)
  const name = one(members(of))
  const member = of[name]
  if (typeof member !== 'function') return member
  if (of instanceof native.Generators && below(3) > 0)
    args.splice(0, 2, new native.Layout(one(RIGHT.slice(0, 2))), { ...KNOBS, [one(KEYS)]: value() })
  for (let i = 0; i < 88; i++) if (below(3) === 0) scratch[i] = below(4) === 0 ? below(256) : 0
  return member.apply(below(10) === 0 ? value() : of, args)
}

for (const made of [
  new native.Generators(scratch),
  new native.Layout({ name: 'flake' }),
  new native.StoreMemory(),
  new native.LeaseMachine({ ttlMs: 30000, waitMs: 1000 }),
])
  pool.push(made)
pool.push(new native.Seal(pool[0], new Uint8Array(16), new Uint8Array(3)))
pool.push(pool[0].functions())
keep(pool[0].open(pool[1], KNOBS))
for (let i = 0; i < Number(rounds); i++) {
  try {
    keep(call())
    returned++
  } catch {
    thrown++
  }
}
console.log(JSON.stringify({ returned, thrown }))
