// The result of an audit as text and as JSON. Long lists are cut in text, with the number of what is left out; JSON has what
// was kept.

import { stamp } from '../../lib/reading/stamps.ts'
import { toTable } from '../parts/table.ts'
import { counted, type Facts, type Finding, findingsOf } from './findings.ts'
import { hintsFor, unknowns } from './hints.ts'
import { nodeParts, nodeText } from './node-text.ts'
import type { Order } from './order.ts'

const NODES = 20
const EQUAL = 10
const LINES = 10 // of an equal ID
const MALFORMED = 10

export interface Report {
  facts: Facts
  order: Order
  findings: Finding[]
}

export const reportOf = (facts: Facts, order: Order): Report => ({ facts, order, findings: findingsOf(facts) })

/** A time for JSON: null without IDs. */
const time = (ms: number) => (Number.isFinite(ms) ? stamp(new Date(ms)) : null)

/** The end of a list that was cut. */
const andMore = (all: number, shown: number) => (all > shown ? `and ${counted(all - shown, 'more', 'more')}` : '')

function nodeTable({ nodes, chosen }: Facts) {
  if (nodes.length === 0) return []
  const headings = ['node', 'IDs', 'first', 'last', 'most in a tick']
  const rows = nodes.slice(0, NODES).map((facts) => {
    const { node, ids, first, last, mostInTick, mostAt } = facts
    const most = mostInTick > 1 ? `${mostInTick} at ${time(mostAt)}` : String(mostInTick)
    return [nodeText(node, chosen.layout), String(ids), time(first) ?? '', time(last) ?? '', most]
  })
  return [...toTable(headings, rows).split('\n'), andMore(nodes.length, NODES)].filter(Boolean)
}

function details({ equal = [], equalLeftOut = 0, lines = [], count, kind, examples = [] }: Finding) {
  if (kind === 'malformed')
    return [...lines.slice(0, MALFORMED).map(({ line, why }) => `line ${line}: ${why}`), andMore(count, MALFORMED)]
  if (examples.length > 0) return [`such as ${examples.join(', ')}`]
  const texts = equal.slice(0, EQUAL).map((one) => {
    const more = andMore(one.count, Math.min(LINES, one.lines.length))
    return `${one.id.padEnd(20)} lines ${[...one.lines.slice(0, LINES), ...(more ? [more] : [])].join(', ')}`
  })
  return [...texts, andMore(equal.length + equalLeftOut, EQUAL)]
}

const indented = (lines: string[], indent: string) => lines.filter(Boolean).map((line) => `${indent}${line}`)

function findingText(finding: Finding, i: number) {
  const { text, advice, page } = finding
  return [`${i + 1}. ${text}`, ...indented([...details(finding), `${advice} See ${page}.`], '   ')]
}

function heading({ input, walk, chosen }: Facts) {
  const { layout, isGuessed, share } = chosen
  const span = walk.usual === 0 ? '' : `, ${time(walk.first)} to ${time(walk.last)}`
  const parts = [`${counted(input.ids.length, 'ID')} of layout ${layout.name}, epoch ${time(layout.epoch)}${span}`]
  if (isGuessed)
    parts.push(
      `The IDs look like ${layout.name} (${Math.floor(share * 100)} % of a sample). Name another with --layout.`,
    )
  const skipped = [
    input.headers > 0 && counted(input.headers, 'header line'),
    input.empty > 0 && counted(input.empty, 'line without an ID', 'lines without an ID'),
    walk.negative > 0 && `${counted(walk.negative, 'ID')} from 2^63 on, negative in a signed column`,
  ]
  const also = skipped.filter((part) => part !== false).join('; ')
  return [...parts, ...(also === '' ? [] : [`Also: ${also}.`])]
}

/** @param heads the sections' headings, and their lines */
const sections = (...heads: [heading: string, lines: string[]][]) =>
  heads.flatMap(([title, lines]) => (lines.length === 0 ? [] : ['', title, ...lines]))

export function toText({ facts, order, findings }: Report) {
  const lines = sections(
    [`Nodes (${facts.nodes.length}):`, indented(nodeTable(facts), '  ')],
    [`Findings (${findings.length}):`, findings.length === 0 ? [] : findings.flatMap(findingText)],
    ['Hints, which may be harmless:', hintsFor(facts, order).map(({ text }) => `  - ${text}`)],
    ['What this check cannot detect:', unknowns(facts, order).map((text) => `  - ${text}`)],
  )
  const verdict = findings.length === 0 ? ['', 'Nothing found.'] : []
  return `${[...heading(facts), ...lines, ...verdict].join('\n')}\n`
}

export function toJson({ facts, order, findings }: Report) {
  const { input, walk, chosen, nodes } = facts
  const { layout } = chosen
  return JSON.stringify({
    lines: input.lines,
    ids: input.ids.length,
    distinct: walk.distinct,
    headers: input.headers,
    empty: input.empty,
    malformed: input.malformedCount,
    negative: walk.negative,
    layout: layout.name,
    epoch: time(layout.epoch),
    isGuessed: chosen.isGuessed,
    share: chosen.share,
    first: time(walk.first),
    last: time(walk.last),
    order: order.kind,
    nodes: nodes.map(({ node, ids, first, last, mostInTick, mostAt, repeated, turns }) => ({
      id: node,
      parts: nodeParts(node, layout),
      ids,
      first: time(first),
      last: time(last),
      mostInTick,
      mostAt: time(mostAt),
      repeated,
      turns,
    })),
    nodesLeftOut: walk.nodes.leftOut,
    findings,
    hints: hintsFor(facts, order),
    cannotTell: unknowns(facts, order),
  })
}
