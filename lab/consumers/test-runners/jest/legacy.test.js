// jest's older fake timers.

jest.useFakeTimers({ legacyFakeTimers: true })
const FlakeId = require('flakeforge')
const { waits } = require('../waits.js')

test('the timers are fakes', () => expect(jest.isMockFunction(setTimeout)).toBe(true))

test.each(Object.entries(waits))('%s', (_name, wait) => wait(FlakeId))
