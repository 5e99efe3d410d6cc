// What an audit finds: facts that IDs of separate generators cannot show. Each has advice and a page of the documentation.
// Anything that correct use can cause, too, is a hint: see hints.ts.

import { pageOf } from '../../lib/base/errors/make.ts'
import type { Layout } from '../../lib/entries/codec.ts'
import { stamp } from '../../lib/reading/stamps.ts'
import type { Input, Malformed } from './input.ts'
import { isFarAbove } from './lost-digits.ts'
import { nodeText } from './node-text.ts'
import type { NodeFacts } from './nodes.ts'
import type { StrayKind, Strays } from './strays.ts'
import type { Chosen } from './system.ts'
import type { Walk } from './walk.ts'

export type Kind = 'equal' | 'interleaved' | 'lost-digits' | StrayKind | 'malformed'

export interface Finding {
  kind: Kind
  /** lines; of `interleaved` turns */
  count: number
  text: string
  advice: string
  page: string
  /** equal IDs, the smallest first, and how many more there are */
  equal?: { id: string; count: number; lines: number[] }[]
  equalLeftOut?: number
  /** the node numbers, those with the most of it first */
  nodes?: number[]
  /** a few of the IDs, as decimal text */
  examples?: string[]
  /** names of layouts that give these IDs a fitting time */
  likely?: string[]
  lines?: Malformed[]
}

/** Everything that was read and computed. */
export interface Facts {
  input: Input
  chosen: Chosen
  walk: Walk
  nodes: NodeFacts[]
}

const EXAMPLES = 5
const NODES = 5 // in a sentence
const REPEATED_ROWS = 0.9 // of all IDs: so many come twice only if the query repeats rows

export const counted = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

const date = (ms: number) => stamp(new Date(ms))

const namesOf = (nodes: NodeFacts[], layout: Layout) => {
  const names = nodes.slice(0, NODES).map(({ node }) => nodeText(node, layout))
  const more = nodes.length - names.length
  return `${names.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

/** All causes that the table allows: the harmless ones first, so that the user rules them out. */
function adviceForEqual({ walk, nodes }: Facts) {
  const isOne = nodes.filter(({ repeated }) => repeated > 0).length === 1
  const others = [
    walk.equal.ids >= walk.distinct * REPEATED_ROWS &&
      walk.equal.ids > 1 &&
      'Nearly every ID comes more than once: if the query repeats rows, as a join does, select the IDs of one table only.',
    walk.lost.couldBeAll &&
      'Every ID here happens to be exactly representable as a double. If the IDs passed through one (JSON, a spreadsheet, a DOUBLE column), different IDs may have been rounded to the same value: export them as text.',
  ].filter((cause) => cause !== false)
  return [
    ...others,
    `${others.length > 0 ? 'Otherwise, ' : ''}${isOne ? 'this node number was' : 'each of these node numbers was'} used by two generators at once, or by one that restarted after its clock had stepped back.`,
    'Give each process a separate number: join() leases one, if all processes use it.',
  ]
    .join(' ')
    .replace(/^./, (letter) => letter.toUpperCase())
}

function equalIds(facts: Facts): Finding[] {
  const { walk, nodes, chosen } = facts
  const { ids, lines, kept } = walk.equal
  if (ids === 0) return []
  const hit = nodes.filter(({ repeated }) => repeated > 0).sort((a, b) => b.repeated - a.repeated)
  const where = hit.length === 0 ? '' : `, of ${namesOf(hit, chosen.layout)}`
  return [
    {
      kind: 'equal',
      count: lines,
      text: `${counted(ids, 'ID comes', 'IDs come')} more than once, in ${counted(lines, 'line')}${where}.`,
      advice: adviceForEqual(facts),
      page: pageOf('docs/run/processes.md'),
      equal: kept.map(({ id, count, lines: some }) => ({ id: String(id), count, lines: some })),
      equalLeftOut: ids - kept.length,
      nodes: hit.map(({ node }) => node),
    },
  ]
}

function interleaved({ nodes, chosen }: Facts): Finding[] {
  const hit = nodes.filter(({ turns }) => turns > 0).sort((a, b) => b.turns - a.turns)
  if (hit.length === 0) return []
  const turns = hit.reduce((sum, one) => sum + one.turns, 0)
  return [
    {
      kind: 'interleaved',
      count: turns,
      text: `The counters of ${namesOf(hit, chosen.layout)} go back and forth between two separate sequences ${counted(turns, 'time')}: two generators use the number at the same time.`,
      advice:
        'They generate equal IDs as soon as their counters meet. Give each process a separate number: join() leases one, if all processes use it.',
      page: pageOf('docs/run/processes.md'),
      nodes: hit.map(({ node }) => node),
    },
  ]
}

/** IDs that went through a number of 53 bits, or through a spreadsheet, which keeps 15 digits. */
function lostDigits({ input, walk, chosen }: Facts): Finding[] {
  const { zeroTails, expectedZeroTails, exponents } = input
  const isFine = chosen.layout.tickMs < 1 // a clock of whole ms generates IDs that end in zeros
  const tails = !isFine && isFarAbove(zeroTails, expectedZeroTails) ? zeroTails : 0
  const binary = walk.lost.found
  const count = binary + tails + exponents
  if (count === 0) return []
  const parts = [
    binary > 0 && `${counted(binary, 'ID is', 'IDs are')} of the kind that a floating-point number holds exactly`,
    tails > 0 &&
      `${counted(tails, 'ID has', 'IDs have')} only zeros after the 15th digit, as a spreadsheet writes them`,
    exponents > 0 && `${counted(exponents, 'line is', 'lines are')} in a spreadsheet's notation, as 1.5E+18`,
  ].filter((part) => part !== false)
  return [
    {
      kind: 'lost-digits',
      count,
      text: `Digits were lost: ${parts.join('; ')}. Chance makes far fewer.`,
      advice:
        'The lost digits cannot be recovered from these texts. Read the IDs as text or bigint everywhere, and export them from the database as text.',
      page: pageOf('docs/data/input.md'),
    },
  ]
}

const SAYS: Record<StrayKind, (strays: Strays, layout: Layout) => string> = {
  future: ({ count, first, last }) =>
    `${counted(count, 'line has an ID', 'lines have IDs')} from the future: ${date(first)} to ${date(last)}.`,
  early: ({ count, first, last, small }) =>
    `${counted(count, 'line has an ID', 'lines have IDs')} from a time before the system generated any: ${date(first)} to ${date(last)}${small > 0 ? `; ${counted(small, 'is', 'are')} below 2^32, as the numbers of a sequence` : ''}.`,
  beyond: ({ count }, { name }) =>
    `${counted(count, 'line has an ID', 'lines have IDs')} that layout ${name} cannot produce: bits that are always 0 are set.`,
}

function strays(kind: StrayKind, { walk, chosen }: Facts): Finding[] {
  const { layout } = chosen
  const found = walk.strays[kind]
  if (found.count === 0) return []
  const likely = walk.usual === 0 ? [] : found.likely(layout, walk.first, walk.last).map(({ name }) => name)
  return [
    {
      kind,
      count: found.count,
      text: SAYS[kind](found, layout),
      advice: adviceForStrays(kind, likely, found, walk.usual === 0),
      page: pageOf('docs/reference/layouts.md'),
      examples: found.sample.slice(0, EXAMPLES).map(String),
      likely,
    },
  ]
}

function adviceForStrays(kind: StrayKind, likely: string[], { count, small }: Strays, isAll: boolean) {
  if (isAll) return 'No ID has a usual time, so the layout or the epoch is probably wrong: check --layout and --epoch.'
  if (small === count) return 'Check whether rows had numbers of a sequence before, and whether both may meet.'
  if (likely.length > 0)
    return `With the layout or epoch of ${likely.join(' or ')}, their times would match the others. Two systems or two epochs in one column can produce equal IDs: let only one of them write.`
  const clock = kind === 'future' ? 'a clock was ahead, or ' : ''
  return `Either ${clock}they are from another system or epoch. Find out which program wrote these rows.`
}

function malformed({ input }: Facts): Finding[] {
  if (input.malformedCount === 0) return []
  return [
    {
      kind: 'malformed',
      count: input.malformedCount,
      text: `${counted(input.malformedCount, 'line is', 'lines are')} not an ID, and ${input.malformedCount === 1 ? 'was' : 'were'} not checked.`,
      advice: 'Select the ID alone, name its column with --column, or its form with --from.',
      page: pageOf('docs/data/audit.md'),
      lines: input.malformed,
    },
  ]
}

export const findingsOf = (facts: Facts): Finding[] => [
  ...equalIds(facts),
  ...interleaved(facts),
  ...lostDigits(facts),
  ...strays('future', facts),
  ...strays('early', facts),
  ...strays('beyond', facts),
  ...malformed(facts),
]
