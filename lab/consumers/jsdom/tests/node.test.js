/**
 * @jest-environment jsdom
 * @jest-environment-options {"customExportConditions": ["node", "node-addons"]}
 */

test('generates', async () => {
  const FlakeId = require('flakeforge')
  const { SegmentId } = require('flakeforge/lease')
  expect(typeof document).toBe('object')
  const flake = new FlakeId({ id: 7 })
  expect(Buffer.isBuffer(flake.next())).toBe(true)
  expect(await flake.nextAsync()).toHaveLength(8)
  expect(flake.decode(flake.next()).id).toBe(7)
  expect(SegmentId).toBeDefined()
})
