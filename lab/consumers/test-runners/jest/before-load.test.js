// The timers are faked before flakeforge is loaded: by a test, or by `enableGlobally` in the configuration.

jest.useFakeTimers()
const FlakeId = require('flakeforge')
const { waits } = require('../waits.js')

test('the timers are fakes', () => expect(setTimeout).toHaveProperty('clock'))

test.each(Object.entries(waits))('%s', (_name, wait) => wait(FlakeId))
