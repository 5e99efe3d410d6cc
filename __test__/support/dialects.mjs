// The rows of core/src/layout/dialects.rs for tests that try every dialect, with figures that are counted here from the widths
// of the fields. What real systems made of them is in __test__/vectors/golden.json.

import { readFileSync } from 'node:fs'

const read = (name) => readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8')
const NOT_NODES = ['timestamp', 'counter', 'zero', 'mode']
const HOSTS = 100
const LAST_DATE_NS = 8_640_000_000_000_000n * 1_000_000n

function widthsOf(fields) {
  const widths = { counter: 0 }
  for (const [name, width] of fields) widths[name] = (widths[name] ?? 0) + width
  return widths
}

/** The first tick that a Date cannot show. */
const ticksOfDates = ({ epoch, tickNs }) => (LAST_DATE_NS - BigInt(epoch) * 1_000_000n) / BigInt(tickNs)

const lesser = (a, b) => (a < b ? a : b)

function ofBits(row) {
  const widths = widthsOf(row.fields)
  const nodeFields = Object.entries(widths).filter(([name]) => !NOT_NODES.includes(name))
  return {
    counterBits: widths.counter,
    lowest: row.fields.at(-1)[0],
    nodeFields: nodeFields.map(([name, width]) => [name, 2 ** width - 1]),
    nodes: 2 ** nodeFields.reduce((sum, [, width]) => sum + width, 0),
    ticks: lesser(2n ** BigInt(widths.timestamp), ticksOfDates(row)),
    topIsZero: row.fields[0][0] === 'zero',
  }
}

const ofDigits = (row) => ({
  counterBits: 0,
  lowest: row.host,
  nodeFields: [[row.host, HOSTS - 1]],
  nodes: HOSTS,
  ticks: lesser((2n ** 64n - BigInt(HOSTS)) / BigInt(HOSTS) + 1n, ticksOfDates(row)),
  topIsZero: false,
})

/** JSON has no Infinity. */
const knob = (ms) => ms ?? Number.POSITIVE_INFINITY

const figuresOf = (row) => ({
  ...row,
  ...(row.host ? ofDigits(row) : ofBits(row)),
  fields: row.fields ?? [],
  tickMs: row.tickNs / 1e6,
  maxAheadMs: knob(row.maxAheadMs),
  maxWaitMs: knob(row.maxWaitMs),
})

/** Every dialect, the default first. */
export const DIALECTS = read('dialects.jsonl')
  .trim()
  .split('\n')
  .map((line) => figuresOf(JSON.parse(line)))

/** Those whose IDs have a node number, so that several processes can make them. */
export const WITH_NODES = DIALECTS.filter(({ nodes }) => nodes > 1)

const BY_NAME = new Map(DIALECTS.map((dialect) => [dialect.name, dialect]))
export const dialect = (name) => BY_NAME.get(name)

/** IDs of real systems and of their specifications, with their parts. */
export const GOLDEN = JSON.parse(read('golden.json')).encode
