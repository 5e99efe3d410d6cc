// An ES consumer of `flakeforge/codec`. It is compiled, and the output is run.

import assert from 'node:assert'
import FlakeId, { type IdLike, Layout as MainLayout } from 'flakeforge'
import { format, type IdBytes, isId, Layout, layouts, type Parts, parse, toBigInt } from 'flakeforge/codec'

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

console.log('codec.mts is right')
