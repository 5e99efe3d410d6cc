// The layout of an input: the one that the user names, or the one that the IDs suggest. `inspect` judges single IDs by how
// usual their node and counter are. A table tells more: most systems have few nodes. So a system is judged by the bits that it
// takes to describe a sample of the IDs with it (minimum description length). A doubtful guess is refused, because every result
// would depend on it.

import type { Layout } from '../../lib/entries/codec.ts'
import { isPlausible, type Reading, rank, type System } from '../parts/ranking.ts'
import type { IdList } from './id-list.ts'
import { unreadable } from './unreadable.ts'

const SAMPLE = 1000
const FEWEST = 0.3 // of the sample: with fewer IDs of any system, none can be the right one
const NEAR = 0.05 // of the sample: two systems for which about as many IDs have a plausible time
const MARGIN = 10 // bits: the second one is a thousand times less likely

export interface Chosen {
  layout: Layout
  isGuessed: boolean
  /** the share of the sample that has a plausible time in this system; 1 if the user names it */
  share: number
}

/** How well a system describes IDs, in bits. */
class Description {
  system
  /** IDs with a plausible time */
  count = 0
  #times = 0
  #usual = 0 // counters by the system's habits
  #even = 0 // counters that may have any value
  #nodes = 0 // by the system's habits, until they come again
  #seen: Map<number, number> = new Map()

  constructor(system: System) {
    this.system = system
  }

  add({ parts, points, system }: Reading) {
    const { counterMax, nodeMax, habits } = system
    const counter = -Math.log2(habits.counter(parts.counter, counterMax))
    const node = habits.node(parts, nodeMax)
    this.#usual += counter
    this.#even += Math.log2(counterMax + 1)
    this.#times += points - counter + Math.log2(node) - habits.rare
    const before = this.#seen.get(parts.id) ?? 0
    this.#nodes -= Math.log2((before + node) / (this.count + 1))
    this.#seen.set(parts.id, before + 1)
    this.count++
  }

  /** For all its IDs. */
  get bits() {
    return this.#times + Math.min(this.#usual, this.#even) + this.#nodes + this.system.habits.rare
  }
}

/** Each system with the IDs that it describes. */
function describe(ids: bigint[]) {
  const known: Map<string, Description> = new Map()
  const now = Date.now()
  for (const id of ids) {
    for (const reading of rank(id, now).filter(isPlausible) as Reading[]) {
      const description = known.get(reading.name) ?? new Description(reading.system)
      known.set(reading.name, description)
      description.add(reading)
    }
  }
  return [...known.values()].sort((a, b) => b.count - a.count)
}

export function chooseLayout(given: Layout | undefined, ids: IdList): Chosen {
  if (given !== undefined) return { layout: given, isGuessed: false, share: 1 }
  const sample = ids.sample(SAMPLE)
  const all = describe(sample)
  const most = all[0]?.count ?? 0
  if (most < sample.length * FEWEST)
    throw unreadable(
      'most of its IDs have no plausible time in any system. Name the layout with --layout, and its --epoch.',
    )
  const perId = ({ bits, count }: Description) => bits / count
  const near = all.filter(({ count }) => count >= most - sample.length * NEAR).sort((a, b) => perId(a) - perId(b))
  const [best, second] = near
  if (second !== undefined && (perId(second) - perId(best)) * best.count < MARGIN) {
    const names = near.map(({ system }) => system.name).join(', ')
    throw unreadable(`its IDs do not show clearly which system they are from (${names}). Name it with --layout.`)
  }
  return { layout: best.system.layout, isGuessed: true, share: best.count / sample.length }
}
