// A test that is an ES module, which jest runs with Node's --experimental-vm-modules: its imports are the exports that
// its CommonJS requires.

import { createRequire } from 'node:module'
import FlakeId, { FlakeError, Layout } from 'flakeforge'
import { LeasedFlakeId } from 'flakeforge/lease'
import { RemoteFlakeId } from 'flakeforge/remote'

const require = createRequire(import.meta.url)

test('import and require give one copy of each class', () => {
  const required = require('flakeforge')
  expect(required).toBe(FlakeId)
  expect(required.Layout).toBe(Layout)
  expect(require('flakeforge/lease').LeasedFlakeId).toBe(LeasedFlakeId)
  expect(require('flakeforge/remote').RemoteFlakeId).toBe(RemoteFlakeId)
})

test('values are of the classes that a test sees', () => {
  const flake = new FlakeId({ id: 13 })
  expect(flake.next()).toBeInstanceOf(Buffer)
  expect(flake.layout).toBeInstanceOf(Layout)
  expect(() => new FlakeId({ worker: 32 })).toThrow(RangeError)
  expect(() => new FlakeId({ worker: 32 })).toThrow(FlakeError)
})
