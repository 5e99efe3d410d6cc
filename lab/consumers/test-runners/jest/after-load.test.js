// The usual order: flakeforge is loaded, then a test fakes the timers.

const FlakeId = require('flakeforge')
const { waits } = require('../waits.js')

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

test.each(Object.entries(waits))('%s', (_name, wait) => wait(FlakeId))

test('join() at a time that a test has set', async () => {
  jest.setSystemTime(new Date('2001-01-01'))
  await waits['join() where no slot is free'](FlakeId)
  expect(new FlakeId({ epoch: new Date('2020-01-01') }).next()).toHaveLength(8)
})

test('IDs have the time that a test has set where their clock is Date.now', () => {
  jest.setSystemTime(new Date('2001-01-01'))
  const flake = new FlakeId({ clock: () => Date.now() })
  expect(flake.decode(flake.next()).date).toEqual(new Date('2001-01-01'))
  jest.advanceTimersByTime(1500)
  expect(flake.decode(flake.next()).date).toEqual(new Date('2001-01-01T00:00:01.500Z'))
})
