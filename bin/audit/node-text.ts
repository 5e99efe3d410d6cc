// A node number by its fields, as `datacenter 0, worker 7`.

import { factsOf } from '../../lib/codec/layout.ts'
import { partOf } from '../../lib/codec/packing.ts'
import type { Layout } from '../../lib/entries/codec.ts'

/** The node fields by name. */
export const nodeParts = (node: number, layout: Layout): Record<string, number> =>
  Object.fromEntries(factsOf(layout).nodeFields.map((field) => [field.name, partOf(field, node)]))

export function nodeText(node: number, layout: Layout) {
  const parts = Object.entries(nodeParts(node, layout)).map(([name, value]) => `${name} ${value}`)
  return parts.length === 0 ? 'the only generator' : parts.join(', ')
}
