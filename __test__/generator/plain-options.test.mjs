// Options that were used before are found without being read again. They mean the same as when they were read: whatever can
// change meanwhile, or is not plain, is read each time.

import test from 'ava'
import { FlakeId, manualClock } from '../support/index.mjs'

const idOf = (options) => new FlakeId(options).id

test('equal options are the same generator, in any order and form', (t) => {
  for (let round = 0; round < 3; round++) {
    const forms = [
      { datacenter: 3, worker: 7 },
      { worker: 7, datacenter: 3 },
      { worker: '7', datacenter: 3 },
      { id: 103 },
    ]
    const flakes = forms.map((options) => new FlakeId(options))
    t.deepEqual(flakes.map(({ id }) => id), [103, 103, 103, 103]) // biome-ignore format: one line
    const ids = flakes.flatMap((flake) => [flake.nextBigInt(), flake.nextBigInt()])
    t.is(new Set(ids).size, ids.length)
  }
})

test('other values are another generator', (t) => {
  for (let round = 0; round < 2; round++) {
    t.deepEqual([9, 1, 1023].map((id) => idOf({ id })), [9, 1, 1023]) // biome-ignore format: one line
    t.is(new FlakeId({ layout: 'hazelcast', node: 7 }).layout.name, 'hazelcast')
    t.is(new FlakeId({ layout: 'discord', worker: 7, process: 1 }).layout.name, 'discord')
    t.is(new FlakeId({ id: 5, epoch: 1_500_000_000_000 }).epoch, 1_500_000_000_000)
    t.is(new FlakeId({ id: 5, epoch: 1_400_000_000_000 }).epoch, 1_400_000_000_000)
  }
})

test('options that are refused stay refused, beside those that were accepted', (t) => {
  idOf({ id: 5 })
  idOf({ datacenter: 1, worker: 2 })
  for (let round = 0; round < 3; round++) {
    for (const wrong of [{ id: 1024 }, { id: 5, wroker: 1 }, { 'id ': 5 }, { id: 5.5 }, { id: Number.NaN }, { datacenter: 1, worker: 32 }])
      t.throws(() => new FlakeId(wrong), { code: 'ERR_FLAKE_OPTION' }) // biome-ignore format: one line
  }
})

test('an option that is not enumerable counts', (t) => {
  idOf({ worker: 3, datacenter: 0 })
  const hidden = Object.defineProperty({ datacenter: 0 }, 'worker', { value: 9 })
  for (let round = 0; round < 3; round++) t.is(idOf(hidden), 9)
  const unknown = Object.defineProperty({ datacenter: 0, worker: 3 }, 'wroker', { value: 9 })
  t.throws(() => new FlakeId(unknown), { code: 'ERR_FLAKE_OPTION' })
})

test.serial('an inherited option is none', (t) => {
  idOf({ worker: 4, datacenter: 2 })
  Object.prototype.worker = 4
  try {
    for (let round = 0; round < 3; round++) t.is(idOf({ datacenter: 2 }), 64)
  } finally {
    delete Object.prototype.worker
  }
})

test.serial('the environment is read each time that it has a say', (t) => {
  const before = { ...process.env }
  t.teardown(() => {
    for (const name of ['FLAKEFORGE_WORKER', 'FLAKEFORGE_ID']) if (before[name] === undefined) delete process.env[name]
  })
  for (const worker of ['5', '6', '6', '7']) {
    process.env.FLAKEFORGE_WORKER = worker
    t.is(idOf({ datacenter: 1 }), 32 + Number(worker))
    t.is(idOf({ datacenter: 1, worker: 9 }), 32 + 9)
    t.is(idOf({ id: 3 }), 3)
    t.is(idOf({ epoch: 5 }), Number(worker))
  }
  delete process.env.FLAKEFORGE_WORKER
  for (const id of ['40', '41']) {
    process.env.FLAKEFORGE_ID = id
    t.is(idOf({ epoch: 5 }), Number(id))
  }
})

test('a clock and a file are read each time', (t) => {
  const [first, second] = [manualClock(), manualClock()]
  first.now = 1_600_000_000_000
  second.now = 1_700_000_000_000
  for (const clock of [first, second, first]) {
    const flake = new FlakeId({ id: 6, clock: () => clock.now })
    t.is(flake.decode(flake.next()).timestamp, clock.now)
  }
})

test('many options in turn are all right, and old ones again', (t) => {
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 15_000; i++) {
      const epoch = 1_000_000_000_000 + i
      const flake = new FlakeId({ epoch, id: i % 1024 })
      if (flake.epoch !== epoch || flake.id !== i % 1024) t.fail(String(i))
    }
  }
  t.pass()
})
