// The layout of an input: the one that the user names, or the one that the IDs suggest. `inspect` judges single IDs by how
// usual their node and counter are. A table tells more: most systems have few nodes. So a system is judged by the bits that it
// takes to describe a sample of the IDs with it (minimum description length). A doubtful guess is refused, because every result
// would depend on it.

import type { Layout } from '../../lib/entries/codec.ts'
import {
  against,
  isNode,
  isPlausible,
  judgeAll,
  likelinessOf,
  pointsOfTimes,
  type Reading,
  type System,
  sharesOf,
} from '../../lib/reading/ranking.ts'
import type { IdList } from './id-list.ts'
import { unreadable } from './unreadable.ts'

const SAMPLE = 1000
const FEWEST = 0.3 // of the sample: with fewer IDs of any system, none can be the right one
const NEAR = 0.05 // of the sample: two systems for which about as many IDs have a plausible time
const MARGIN = 10 // bits: the second one is a thousand times less likely
const UNUSUAL = 12 // bits: counters that do not behave as those of the system

export interface Chosen {
  layout: Layout
  isGuessed: boolean
  /** the share of the sample that has a plausible time in this system; 1 if the user names it */
  share: number
}

/** How well a system describes IDs, in bits, compared with numbers drawn at random. */
class Description {
  system
  /** IDs with a plausible time */
  count = 0
  #times: [ms: number, weight: number][] = []
  #habits = 0 // nodes and counters by the system's habits
  #usual = 0 // counters that start at 0 in each tick
  #largest = 0 // of the counters, where they continue from tick to tick
  #nodes = 0 // nodes of a user's own, which come again
  #seen: Map<number, number> = new Map()

  constructor(system: System) {
    this.system = system
  }

  add({ parts, points, kinds, system }: Reading) {
    const { sizes } = system
    this.#times.push([parts.timestamp, 1])
    this.#habits += points + against(kinds, sharesOf(system))
    if (sizes.counter !== undefined) this.#usual -= Math.log2(0.9 * 0.5 ** (parts.counter + 1) * sizes.counter + 0.1)
    this.#largest = Math.max(this.#largest, parts.counter)
    const before = this.#seen.get(parts.id) ?? 0
    const node = likelinessOf(parts, system, isNode) / sizes.id
    this.#nodes += points - Math.log2(((before + node) / (this.count + 1)) * sizes.id)
    this.#seen.set(parts.id, before + 1)
    this.count++
  }

  /** For all its IDs. */
  get bits() {
    const { habits } = this.system
    const { counter = 1 } = this.system.sizes
    const continuing = this.count * Math.log2((this.#largest + 1) / counter) + (habits.continues ? 0 : UNUSUAL)
    const own = this.#nodes + Math.min(this.#usual, continuing)
    return Math.min(this.#habits, own) + pointsOfTimes(this.#times, this.system, Date.now()) + habits.rare
  }
}

/** Each system with the IDs that it describes. */
function describe(ids: bigint[]) {
  const known: Map<string, Description> = new Map()
  const now = Date.now()
  for (const id of ids) {
    for (const reading of judgeAll(id, now).filter(isPlausible) as Reading[]) {
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
