// Facts of a layout that the command needs and users do not see: the names of its node fields, and its system's figures.

import { factsOf as libraryFactsOf } from '../../lib/codec/layout.ts'
import type { Layout } from '../../lib/entries/codec.ts'

export interface LayoutFacts {
  /** of the node fields */
  nodeNames: string[]
  tickMs: number
  maxAheadMs: number
  maxWaitMs: number
}

export const factsOf = (layout: Layout): LayoutFacts => libraryFactsOf(layout)
