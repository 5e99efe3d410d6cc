// What the order of the lines shows, if it is the order in which IDs were generated: where a node goes back in time, or its counter
// goes back within a tick. It is only a hint, because concurrent inserts and batches change the order too.

import type { Layout } from '../../lib/entries/codec.ts'
import type { IdList } from './id-list.ts'
import { decode } from './strays.ts'

const MOST_NODES = 65_536
const DISORDER = 0.01 // of all lines: with more steps back, lines are not in the order of creation

/** The steps back of one node. */
export interface Steps {
  node: number
  /** how often its time goes back, the widest step in ms, and the line where it ends */
  timeBack: number
  widestMs: number
  line: number
  /** how often its counter goes back within a tick */
  counterBack: number
  lastMs: number
  lastCounter: number
}

export interface Order {
  /** `sorted`: by ID, which hides the order of creation */
  kind: 'sorted' | 'mixed' | 'created'
  nodes: Steps[]
}

const startOf = (node: number, lastMs: number): Steps => ({
  ...{ node, timeBack: 0, widestMs: 0, line: 0 },
  ...{ counterBack: 0, lastMs, lastCounter: -1 },
})

/** @param back in ms, above 0 */
function stepBack(steps: Steps, back: number, line: number) {
  steps.timeBack++
  if (back > steps.widestMs) [steps.widestMs, steps.line] = [back, line]
}

function isSorted(ids: IdList) {
  for (let at = 1; at < ids.length; at++) if (ids.id(at) < ids.id(at - 1)) return false
  return true
}

export function orderOf(ids: IdList, layout: Layout): Order {
  if (isSorted(ids)) return { kind: 'sorted', nodes: [] }
  const known: Map<number, Steps> = new Map()
  let back = 0
  for (let at = 0; at < ids.length; at++) {
    if (back > ids.length * DISORDER) return { kind: 'mixed', nodes: [] }
    const parts = decode(layout, ids.id(at))
    if (parts === undefined) continue
    const { id, timestamp, counter } = parts
    let steps = known.get(id)
    if (steps === undefined) {
      if (known.size >= MOST_NODES) continue
      steps = startOf(id, timestamp)
      known.set(id, steps)
    }
    const isSameTick = timestamp === steps.lastMs
    if (timestamp < steps.lastMs) stepBack(steps, steps.lastMs - timestamp, ids.line(at))
    if (isSameTick && counter < steps.lastCounter) steps.counterBack++
    if (timestamp < steps.lastMs || (isSameTick && counter < steps.lastCounter)) back++
    steps.lastMs = timestamp
    steps.lastCounter = counter
  }
  const nodes = [...known.values()].filter(({ timeBack, counterBack }) => timeBack + counterBack > 0)
  return { kind: 'created', nodes }
}
