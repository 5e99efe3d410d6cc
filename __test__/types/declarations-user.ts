// A user of declarations.ts. It does not import flakeforge itself, so it needs names for what it passes on.

import {
  errors,
  flake,
  hazelcast,
  join,
  joinPlain,
  mine,
  Orders,
  open,
  own,
  ownParts,
  parts,
  store,
} from './declarations.js'

export const generators = [flake, hazelcast, own, new Orders({ node: 3 })] as const
export const shard: number = own.decode(1n).shard + ownParts().shard + mine.decode(1n).shard
export const node: number = parts().node + new Orders().first.node
export const layoutOfHazelcast = hazelcast.layout
export const all = async () => [await join(), await joinPlain(), await open(), store()] as const
export const leasedParts = async () => (await join()).decode(1n)
export const isOurs = (thrown: unknown) => (thrown instanceof errors.FlakeError ? thrown.code : undefined)
