// An ES consumer of `flakeforge/codec`. It is compiled, and the output is run.

import assert from 'node:assert'
import FlakeId, { type IdLike, idType as idTypeOfMain, type Id as MainId, Layout as MainLayout } from 'flakeforge'
import {
  format,
  type Id,
  type IdBytes,
  type IdType,
  type IdTypeOptions,
  idType,
  isId,
  Layout,
  layouts,
  type Parts,
  parse,
  toBigInt,
} from 'flakeforge/codec'

const parts: Parts<'twitter'> = layouts.twitter.decode('1541815603606036480')
const worker: number = parts.worker
const bytes: Buffer = layouts.twitter.encode(parts)
const same: IdBytes = bytes
const id: IdLike = same
assert.equal(toBigInt(id), 1541815603606036480n)
assert.equal(worker, 26)
assert.deepEqual(['x', '5'].filter(isId), ['5'])
assert.equal(parse(format(id, 'base62'), 'base62').readBigUInt64BE(), 1541815603606036480n)

// One class in both entries: a generator takes the codec's layouts.
const own = new Layout({
  fields: [
    ['timestamp', 42],
    ['shard', 10],
    ['counter', 12],
  ],
})
const main: MainLayout<{ fields: [['timestamp', 42], ['shard', 10], ['counter', 12]] }> = own
assert.ok(main instanceof MainLayout)
assert.equal(own.decode(new FlakeId({ layout: own, shard: 3 }).next()).shard, 3)

// One kind of IDs has one type.
const [Order, User] = [idType('ord', { layout: 'twitter' }), idType('usr')]
const order: Id<'ord'> = Order.next(new FlakeId({ worker: 3 }))
const sold: string = order
const checked: { value: Id<'ord'>; issues?: undefined } | { issues: readonly { message: string }[] } =
  Order['~standard'].validate(sold)
const received: unknown = sold
if (Order.is(received)) {
  const again: Id<'ord'> = received
  assert.equal(Order.toBigInt(again), Order.toBigInt(order))
}
const ofMain: MainId<'ord'> = order
const back: Id<'ord'> = idTypeOfMain('ord').from(Order.toBigInt(ofMain))
assert.equal(back, order)
const kinds: IdType[] = [Order, User, idTypeOfMain('x')]
const options: IdTypeOptions = { prefix: undefined, layout: null, base: undefined, seal: undefined }
assert.equal(idType('ord', options).name, kinds[0]?.name)
const either = order as Id<'ord'> | Id<'usr'>
const narrowed: Id<'ord'> | undefined = Order.is(either) ? either : undefined
assert.equal(narrowed, order)
const found: Array<Id<'ord'>> = [sold, 'x'].filter(Order.is)
assert.deepEqual(found, [order])
assert.ok('value' in checked)
const neverCalled = () => {
  // @ts-expect-error: it is an order's
  const user: Id<'usr'> = order
  // @ts-expect-error: text that nobody has checked
  const unchecked: Id<'ord'> = 'ord_6GZCG5W040001'
  // @ts-expect-error: the same in a template
  const made: Id<'ord'> = `ord_${sold}`
  // @ts-expect-error: the schema is another kind's
  const schema: typeof User = Order
  // @ts-expect-error: no such layout
  idType('ord', { layout: 'twiter' })
  // @ts-expect-error: a name is text
  idType(5)
  // @ts-expect-error: a Seal has sealString() and openString()
  idType('ord', { seal: {} })
  return [user, unchecked, made, schema]
}
assert.equal(typeof neverCalled, 'function')

console.log('codec.mts is right')
