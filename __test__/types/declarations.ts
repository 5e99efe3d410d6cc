// A library on top of flakeforge with inferred types. Its declarations must be generated, and its users must be able to
// compile against them: declarations-user.ts. Not run.

import FlakeId, { FlakeError, Layout, layouts } from 'flakeforge'
import { layouts as codecLayouts, FlakeError as OfCodec } from 'flakeforge/codec'
import { FlakeError as OfLease, redisStore, SegmentId } from 'flakeforge/lease'
import { FlakeError as OfRemote } from 'flakeforge/remote'

export const errors = { FlakeError, OfCodec, OfLease, OfRemote }
export const { twitter } = codecLayouts
export const flake = new FlakeId({ worker: 1 })
export const hazelcast = new FlakeId({ layout: 'hazelcast', node: 1 })
export const own = new FlakeId({
  layout: {
    fields: [
      ['timestamp', 41],
      ['shard', 23],
    ],
  },
  shard: 5,
})
export const layout = new Layout('twitter')
export const mine = new Layout({
  fields: [
    ['timestamp', 41],
    ['shard', 23],
  ],
})
export const { discord } = layouts
export const parts = () => hazelcast.decode(1n)
export const ownParts = () => own.decode(1n)
export const join = () => FlakeId.join('redis://localhost', { layout: 'hazelcast' })
export const joinPlain = () => FlakeId.join()
export const open = () => SegmentId.open('redis://localhost', { name: 'orders' })
export const store = () => redisStore(null)
export const statsOf = (generator: FlakeId) => generator.stats
export const decode = hazelcast.decode
export const encode = (...args: Parameters<typeof layout.encode>) => layout.encode(...args)
export const iterate = () => flake.ids()
export class Orders extends FlakeId<'hazelcast'> {
  readonly first = this.decode(1n)
}
