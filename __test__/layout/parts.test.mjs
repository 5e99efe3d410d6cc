// Parts: the results of decode(), as JSON and in comparisons, and encode() of parts that are not plain objects.

import assert from 'node:assert'
import { inspect } from 'node:util'
import test from 'ava'
import { FlakeId, fixed, SOME_TIME, throwsCode } from '../support/index.mjs'

const { Layout, layouts } = FlakeId
const PARTS = { timestamp: SOME_TIME, tick: BigInt(SOME_TIME), counter: 5, id: 295, datacenter: 9, worker: 7 }
const ID = layouts.flake.encode(PARTS)

test('JSON.stringify writes parts, with the tick as text', (t) => {
  const parts = layouts.flake.decode(ID)
  const expected = { ...PARTS, tick: String(SOME_TIME), date: '2023-11-14T22:13:20.000Z' }
  t.deepEqual(JSON.parse(JSON.stringify(parts)), expected)
  t.deepEqual(JSON.parse(JSON.stringify({ ids: [parts, fixed().decode(ID)] })), { ids: [expected, expected] })
  t.is(JSON.parse(JSON.stringify(layouts.uniqueid.decode(ID))).mode, 'sequential')
  t.is(parts.tick, BigInt(SOME_TIME), 'it stays a bigint')
})

test('parts look like a plain object, and compare like one', (t) => {
  const parts = layouts.flake.decode(ID)
  const plain = { ...PARTS, date: new Date(SOME_TIME) }
  t.deepEqual(parts, { ...parts })
  t.deepEqual(Object.keys(parts).sort(), Object.keys(plain).sort())
  const inherited = []
  for (const key in parts) inherited.push(key)
  t.deepEqual(inherited, Object.keys(parts))
  t.is(parts.constructor, Object)
  t.is(inspect(parts), inspect({ ...parts }))
  t.is(Object.prototype.toString.call(parts), '[object Object]')
  assert.deepEqual(parts, plain)
  assert.deepStrictEqual({ ...parts }, plain)
  assert.deepStrictEqual(parts, layouts.flake.decode(ID))
  assert.deepStrictEqual(structuredClone(parts), plain)
})

test('the result of decode can be passed back, and so can its copy and its JSON', (t) => {
  const parts = layouts.flake.decode(ID)
  t.deepEqual(layouts.flake.encode(parts), ID)
  t.deepEqual(layouts.flake.encode({ ...parts }), ID)
  const { timestamp, counter, id } = JSON.parse(JSON.stringify(parts))
  t.deepEqual(layouts.flake.encode({ timestamp, counter, id }), ID)
})

test('getters that generate and read IDs change nothing', (t) => {
  const disturb = () => {
    new FlakeId().next()
    layouts.uniqueid.decode(2n ** 64n - 1n)
    layouts.discord.encode({ tick: 99n, worker: 3, process: 4, counter: 9 })
  }
  const disturbed = Object.fromEntries(Object.keys(PARTS).map((key) => [key, undefined]))
  for (const key of Object.keys(PARTS)) {
    Object.defineProperty(disturbed, key, {
      enumerable: true,
      get() {
        disturb()
        return PARTS[key]
      },
    })
  }
  t.deepEqual(layouts.flake.encode(disturbed), ID)
  class Late extends Date {
    getTime() {
      disturb()
      return super.getTime()
    }
  }
  const { tick: _, ...parts } = PARTS
  t.deepEqual(layouts.flake.encode({ ...parts, timestamp: new Late(SOME_TIME) }), ID)
})

test('only own parts count, and an unknown one is an error', (t) => {
  const { worker, id, ...others } = PARTS
  const inherited = layouts.flake.encode(Object.assign(Object.create({ worker }), others))
  t.is(layouts.flake.decode(inherited).worker, 0)
  const error = throwsCode(t, () => layouts.flake.encode({ ...PARTS, wroker: 7 }), 'ERR_FLAKE_OPTION', TypeError)
  t.is(error.option, 'wroker')
})

test('each of many fields is in its place', (t) => {
  const fields = Array.from({ length: 10 }, (_, i) => [`n${i}`, (i % 5) + 1])
  const layout = new Layout({ fields: [['timestamp', 20], ...fields, ['counter', 14]] })
  const values = Object.fromEntries(fields.map(([name, width], i) => [name, (i * 7) % 2 ** width]))
  const joined = fields.reduce((node, [name, width]) => node * 2 ** width + values[name], 0)
  t.like(layout.decode(layout.encode({ tick: 3n, ...values })), { ...values, id: joined })
  t.like(layout.decode(layout.encode({ tick: 3n, id: joined })), { ...values, id: joined })
  t.notThrows(() => layout.encode({ tick: 3n, ...values, id: joined }))
  const error = t.throws(() => layout.encode({ tick: 3n, ...values, id: joined + 1 }), { code: 'ERR_FLAKE_OPTION' })
  t.is(error.option, 'n8')
})
