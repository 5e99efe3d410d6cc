// The usual order: flakeforge is imported, then a test fakes the timers.

import FlakeId, { Layout } from 'flakeforge'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { waits } from '../waits.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test.each(Object.entries(waits))('%s', (_name, wait) => wait(FlakeId))

test('join() at a time that a test has set', async () => {
  vi.setSystemTime(new Date('2001-01-01'))
  await waits['join() where no slot is free'](FlakeId)
})

test('IDs have the time that a test has set where their clock is Date.now', () => {
  vi.setSystemTime(new Date('2001-01-01'))
  const flake = new FlakeId({ clock: () => Date.now() })
  expect(flake.decode(flake.next()).date).toEqual(new Date('2001-01-01'))
})

test('values are of the classes that a test sees', () => {
  const flake = new FlakeId({ id: 12 })
  const id = flake.next()
  expect(id).toBeInstanceOf(Buffer)
  expect(id).toStrictEqual(Buffer.from(id))
  expect(flake.takeBigInts(3)).toBeInstanceOf(BigUint64Array)
  expect(flake.layout).toBeInstanceOf(Layout)
  expect(() => new FlakeId({ worker: 32 })).toThrow(RangeError)
})

test('vi.resetModules() gives no second generator of the same IDs', async () => {
  const ids = new Set()
  for (let i = 0; i < 5; i++) {
    vi.resetModules()
    const { default: Another } = await import('flakeforge')
    for (const id of new Another({ id: 11, maxWaitMs: 1000 }).takeBigInts(3000)) ids.add(id)
  }
  expect(ids.size).toBe(15_000)
})
