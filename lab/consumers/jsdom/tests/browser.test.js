/** @jest-environment jsdom */

test('decodes, and says that it cannot generate', () => {
  const FlakeId = require('flakeforge')
  const { layouts, parse } = FlakeId
  expect(typeof document).toBe('object')
  expect(layouts.discord.decode('175928847299117063').date.toISOString()).toBe('2016-04-30T11:18:25.796Z')
  expect([...parse('255', 'dec')]).toEqual([0, 0, 0, 0, 0, 0, 0, 255])
  expect(() => new FlakeId()).toThrow(expect.objectContaining({ code: 'ERR_FLAKE_LOAD' }))
})

test('every entry can be required', () => {
  expect(require('flakeforge/lease').SegmentId).toBeDefined()
  expect(require('flakeforge/codec').Layout).toBeDefined()
  expect(require('flakeforge/remote').RemoteFlakeId).toBeDefined()
  expect(require('flakeforge/metrics').prometheusMetrics).toBeDefined()
  expect(typeof require('flakeforge/biguint-format')).toBe('function')
})
