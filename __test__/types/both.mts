// An ES module that passes its objects to a CommonJS one: the classes have the same types in both. Compiled, not run.

import FlakeId, { Layout } from 'flakeforge'
import type { LeasedFlakeId } from 'flakeforge/lease'
import { joined, layout, takes } from './takes.cjs'

takes(new FlakeId({ layout: 'hazelcast', node: 1 }), new Layout('twitter'))
export const ofOther: Layout = layout
export const leased = async (): Promise<LeasedFlakeId> => joined()
