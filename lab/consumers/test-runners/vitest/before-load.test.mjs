// The timers are faked before flakeforge is loaded, as in a setup file.

import { expect, test, vi } from 'vitest'

vi.useFakeTimers()
const { default: FlakeId } = await import('flakeforge')
const { waits } = await import('../waits.js')

test('the timers are fakes', () => expect(setTimeout).toHaveProperty('clock'))

test.each(Object.entries(waits))('%s', (_name, wait) => wait(FlakeId))
