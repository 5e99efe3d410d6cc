// The user's own clock: what it may return, and what it may do while it is read. It runs in the middle of our calls, so
// its own IDs and errors must not affect them.

import test from 'ava'
import {
  BASES,
  FlakeId,
  isAscending,
  manualClock,
  numberOf,
  PATIENT,
  SOME_TIME,
  split,
  syncCalls,
  throwsCode,
} from '../support/index.mjs'

const { format } = FlakeId

test('a clock may give a bigint of Unix ns', (t) => {
  const ms = (time, epoch = 0) => {
    const flake = new FlakeId({ epoch, clock: () => time })
    return flake.decode(flake.next()).timestamp
  }
  t.is(ms(BigInt(SOME_TIME) * 1_000_000n), SOME_TIME)
  t.is(ms(BigInt(SOME_TIME) * 1_000_000n + 999_999n), SOME_TIME)
  t.is(ms(0n), 0)
  t.is(ms(-1n, -10), -1, 'the ms in which it lies, before 1970 too')
  t.is(ms(-1_000_000n, -10), -1)
  t.is(ms(-1_000_001n, -10), -2)
  t.throws(() => ms(-1n), { code: 'ERR_FLAKE_TIME_RANGE' })
})

test('a fraction of a ms belongs to the ms in which it lies', (t) => {
  for (const now of [5.5, 5.000001, 5.999, 5.9999999, SOME_TIME + 0.5, SOME_TIME + 0.99, 0.1, -0.5, -9.25]) {
    const flake = new FlakeId({ epoch: -10, clock: () => now })
    t.is(flake.decode(flake.next()).timestamp, Math.floor(now), String(now))
  }
})

for (const [value, Type] of [
  [Number.NaN, RangeError],
  [Number.POSITIVE_INFINITY, RangeError],
  [Number.NEGATIVE_INFINITY, RangeError],
  [undefined, TypeError],
  [null, TypeError],
  ['5', TypeError],
  [true, TypeError],
  [{}, TypeError],
  [new Date(5), TypeError],
]) {
  test(`a clock that returns ${typeof value} ${String(value)} is an error`, async (t) => {
    const clock = manualClock()
    const flake = new FlakeId({ clock })
    clock.now = value
    for (const call of [...Object.values(syncCalls), (flake) => flake.take(1)]) {
      const error = throwsCode(t, () => call(flake), 'ERR_FLAKE_OPTION', Type)
      t.is(error.option, 'clock')
      t.is(error.value, value)
    }
    await t.throwsAsync(() => flake.nextAsync(), { code: 'ERR_FLAKE_OPTION' })
    await t.throwsAsync(() => flake.takeAsync(1), { code: 'ERR_FLAKE_OPTION' })
    clock.now = SOME_TIME
    t.is(flake.decode(flake.next()).counter, 0)
  })
}

/** A generator whose clock does something extra, once for each time it is read from outside. */
function busyClock(options, act) {
  let busy = false
  const time = manualClock()
  const flake = new FlakeId({
    ...options,
    clock: () => {
      if (!busy) {
        busy = true
        try {
          act(flake, time)
        } finally {
          busy = false
        }
      }
      return time()
    },
  })
  return { flake, time }
}

/** What a clock may do meanwhile, each leaving different traces in what the addon shares. */
const meanwhile = {
  'generates IDs of the same generator': (flake, made) => made.push(flake.next(), flake.nextBigInt()),
  'generates texts of the same generator': (flake, made) =>
    made.push(BigInt(flake.nextString()), BigInt(`0x${flake.nextString('hex')}`)),
  'takes from the same generator': (flake, made) => made.push(...split(flake.take(3)), ...flake.takeBigInts(2)),
  'generates IDs of another': () => other.next(),
  'formats something': () => BASES.map((base) => format(Buffer.alloc(8, 0xee), base)),
  'fails elsewhere': () => failsQuietly(() => stuck.next()),
}
const other = new FlakeId({
  id: 1000,
  clock: () => SOME_TIME,
  maxAheadMs: Number.POSITIVE_INFINITY,
})
const stuck = new FlakeId({ id: 1001, clock: () => -12345 })

function failsQuietly(call) {
  try {
    call()
  } catch {
    return
  }
  throw new Error('it should have failed')
}

for (const [name, act] of Object.entries(meanwhile)) {
  for (const base of BASES) {
    test(`a clock that ${name} corrupts nothing: nextString('${base}')`, (t) => {
      const made = []
      const { flake } = busyClock({ id: 5 }, (flake) => act(flake, made))
      const texts = []
      for (let i = 0; i < 100; i++) {
        texts.push(flake.nextString(base))
        made.push(FlakeId.parse(texts.at(-1), base))
      }
      t.true(isAscending(made))
      t.true(made.every((id) => flake.decode(numberOf(id)).id === 5))
      t.true(texts.every((text) => format(FlakeId.parse(text, base), base) === text))
    })
  }

  test(`a clock that ${name} corrupts nothing: next, nextBigInt, take`, (t) => {
    const made = []
    const { flake } = busyClock({ id: 5 }, (flake) => act(flake, made))
    for (let i = 0; i < 100; i++) {
      made.push(flake.next())
      made.push(flake.nextBigInt())
      made.push(...split(flake.take(3)))
      made.push(...flake.takeBigInts(3))
    }
    t.true(isAscending(made))
    t.true(made.every((id) => flake.decode(numberOf(id)).id === 5))
  })

  test(`a clock that ${name} corrupts nothing: waiting and failing`, (t) => {
    const made = []
    let asked = 0
    const { flake, time } = busyClock({ id: 5, seqMask: 7, ...PATIENT }, (flake, time) => {
      if (++asked % 16 > 0) return // so that ticks are used up, and the clock acts while a call waits
      time.now += 1
      act(flake, made)
    })
    for (let i = 0; i < 30; i++) {
      const text = flake.nextString('base32')
      made.push(FlakeId.parse(text, 'base32'))
      const id = flake.next()
      made.push(id)
    }
    t.true(flake.stats.waits > 0)
    t.true(isAscending(made))
    time.now = -999_999
    const error = throwsCode(t, () => flake.next(), 'ERR_FLAKE_TIME_RANGE', RangeError)
    t.is(error.timestamp, time.now)
  })
}

test('the errors of one generator do not affect another whose clock was read meanwhile', (t) => {
  const { flake, time } = busyClock({}, () => failsQuietly(() => stuck.next()))
  flake.next()
  time.now -= 77
  t.is(throwsCode(t, () => flake.next(), 'ERR_FLAKE_CLOCK_BACKWARDS').behindMs, 77)
})

test('a clock is not read before the first ID', (t) => {
  let asked = 0
  const flake = new FlakeId({ clock: () => ++asked })
  t.is(asked, 0)
  flake.next()
  t.is(asked, 1)
})
