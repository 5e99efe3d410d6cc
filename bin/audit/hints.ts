// Hints: what faults can cause, but correct use too. They do not change the exit status. And what an audit cannot tell.

import { stamp } from '../../lib/reading/stamps.ts'
import { counted, type Facts } from './findings.ts'
import { nodeText } from './node-text.ts'
import type { Order, Steps } from './order.ts'

export interface Hint {
  kind: 'time-back' | 'counter-back' | 'gap'
  count: number
  text: string
  /** the node number */
  node?: number
}

const MOST = 20 // nodes with a hint

const duration = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)

/** Of a node, if lines are in the order of creation. */
function hintsOf({ node, timeBack, widestMs, line, counterBack }: Steps, { chosen }: Facts): Hint[] {
  const name = nodeText(node, chosen.layout)
  const hints: Hint[] = []
  if (timeBack > 0)
    hints.push({
      kind: 'time-back',
      count: timeBack,
      text: `${name} goes back in time ${counted(timeBack, 'time')} in the order of the lines, by ${duration(widestMs)} in line ${line}: its clock stepped back, two generators use the number, or rows were inserted later than their IDs were generated.`,
      node,
    })
  if (counterBack > 0)
    hints.push({
      kind: 'counter-back',
      count: counterBack,
      text: `${name} has counters that go back within a tick ${counted(counterBack, 'time')} in the order of the lines: two generators use the number, or concurrent inserts changed the order.`,
      node,
    })
  return hints
}

function gap({ walk }: Facts): Hint[] {
  if (walk.gap === undefined) return []
  const { from, to, before } = walk.gap
  const [end, start] = [from, to].map((ms) => stamp(new Date(ms)))
  return [
    {
      kind: 'gap',
      count: walk.usual - before,
      text: `No ID is between ${end} (${counted(before, 'ID')} before) and ${start} (${counted(walk.usual - before, 'ID')} after): a pause, or IDs of two epochs.`,
    },
  ]
}

export function hintsFor(facts: Facts, order: Order): Hint[] {
  const steps = order.kind === 'created' ? order.nodes : []
  return [...steps.flatMap((one) => hintsOf(one, facts)).slice(0, MOST), ...gap(facts)]
}

const OF_ORDER: Record<Order['kind'], string[]> = {
  created: [],
  sorted: [
    'The lines are sorted by ID, so they do not show in which order IDs were generated, and whether a clock stepped back.',
  ],
  mixed: ['The lines are not in the order in which IDs were generated, so steps back of a clock do not show.'],
}

/** What this input does not show. */
export const unknowns = ({ walk }: Facts, order: Order) => [
  'Two generators with one node number leave no trace here until they generate IDs in the same tick.',
  'IDs that never reached this table, for example because a unique index rejected them, are not detected.',
  'If a line repeats the row of another, the IDs of both look like two equal ones.',
  'An ID of another system or epoch whose time fits among the others looks like one of this system.',
  ...OF_ORDER[order.kind],
  ...(walk.nodes.leftOut > 0
    ? [`${counted(walk.nodes.leftOut, 'ID')} of further nodes were not checked by node.`]
    : []),
]
