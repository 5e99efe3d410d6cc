// A jest test file has its own classes besides those of Node. What flakeforge returns must be of the classes that the
// test sees.

const FlakeId = require('flakeforge')
const { SegmentId, fileStore } = require('flakeforge/lease')

const { FlakeError, Layout, format, layouts, parse } = FlakeId

const flake = new FlakeId({ datacenter: 9, worker: 7, clock: () => 1_600_000_000_000 })

test('Buffers', async () => {
  for (const id of [flake.next(), await flake.nextAsync(), flake.take(3), await flake.takeAsync(3), parse('7')]) {
    expect(id).toBeInstanceOf(Buffer)
    expect(id).toBeInstanceOf(Uint8Array)
    expect(Buffer.isBuffer(id)).toBe(true)
    expect(id).toEqual(Buffer.from(id))
    expect(id).toStrictEqual(Buffer.from(id))
  }
  expect(layouts.flake.encode({ tick: 1n, worker: 1 })).toEqual(Buffer.from([0, 0, 0, 0, 0, 0x40, 0x10, 0]))
})

test('BigUint64Array', () => {
  for (const n of [3, 100]) expect(flake.takeBigInts(n)).toBeInstanceOf(BigUint64Array)
})

test('plain objects and Dates', () => {
  const parts = flake.decode(flake.next())
  expect(parts).toMatchObject({ datacenter: 9, worker: 7, timestamp: 1_600_000_000_000 })
  expect(parts.date).toBeInstanceOf(Date)
  expect({ ...parts }).toStrictEqual({ ...parts })
  expect(flake.stats).toMatchObject({ ids: expect.any(Number), since: expect.any(Date) })
  expect(layouts.flake.end).toBeInstanceOf(Date)
  expect(layouts.flake.fields).toEqual([
    ['timestamp', 42],
    ['datacenter', 5],
    ['worker', 5],
    ['counter', 12],
  ])
})

test('errors', async () => {
  expect(() => new FlakeId({ worker: 32 })).toThrow(RangeError)
  expect(() => new FlakeId({ wroker: 1 })).toThrow(TypeError)
  expect(() => new FlakeId({ wroker: 1 })).toThrow(expect.objectContaining({ code: 'ERR_FLAKE_OPTION' }))
  expect(() => format('x')).toThrow(TypeError)
  expect(() => new Layout({ fields: [['timestamp', 63]] })).toThrow(RangeError)
  expect(() => new FlakeId({ clock: () => -1 }).next()).toThrow(RangeError)
  await expect(FlakeId.join('nonsense:')).rejects.toThrow(RangeError)
  await expect(SegmentId.open(fileStore('/dev/null/x'), { name: 'x' })).rejects.toBeInstanceOf(Error)
  expect(() => new FlakeId({ worker: 32 })).toThrow(FlakeError)
  await expect(SegmentId.open(fileStore('/dev/null/x'), { name: 'x' })).rejects.toBeInstanceOf(FlakeError)
  expect(() => format('x')).toThrow(FlakeError)
  expect(new TypeError('x')).not.toBeInstanceOf(FlakeError)
  jest.isolateModules(() => {
    const { FlakeError: again } = require('flakeforge/codec')
    expect(() => new FlakeId({ worker: 32 })).toThrow(again)
  })
})

test('Uint8Arrays, Dates and arrays of a test are accepted', () => {
  const id = flake.next()
  expect(format(new Uint8Array(id))).toBe(format(id))
  expect(format([...id])).toBe(format(id))
  expect(new FlakeId({ epoch: new Date('2020-01-01') }).epoch).toBe(Date.UTC(2020, 0))
  expect(
    new Layout({
      fields: [
        ['timestamp', 42],
        ['node', 10],
        ['counter', 12],
      ],
    }).name,
  ).toBe('custom')
})
