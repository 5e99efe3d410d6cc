// After jest.resetModules(), flakeforge's files are loaded again, and return the objects that were created when they
// were loaded first.

test('the class stays the same, and gives no warning', () => {
  const warn = jest.spyOn(process, 'emitWarning')
  const copies = Array.from({ length: 5 }, () => {
    jest.resetModules()
    return require('flakeforge')
  })
  expect(new Set(copies).size).toBe(1)
  const flakes = copies.map((FlakeId) => new FlakeId({ id: 9, maxWaitMs: 1000 }))
  const ids = Array.from({ length: 20_000 }, (_, i) => flakes[i % 5].nextBigInt())
  expect(new Set(ids).size).toBe(20_000)
  expect(warn).not.toHaveBeenCalled()
})

test('jest.isolateModules', () => {
  const made = new Set()
  for (let i = 0; i < 5; i++) {
    jest.isolateModules(() => {
      const FlakeId = require('flakeforge')
      for (const id of new FlakeId({ id: 10, maxWaitMs: 1000 }).takeBigInts(3000)) made.add(id)
    })
  }
  expect(made.size).toBe(15_000)
})
