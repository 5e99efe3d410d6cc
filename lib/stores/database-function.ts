// What `flakeforge schema --function` needs to know of a layout, whatever the database: where tick, counter and node are in an
// ID, and the marks that identify the function and its state.
//
// The state of a function is the position of its last ID, the tick above the counter: tick << counter bits | counter. It only
// grows. So IDs are never equal, whatever the clock does, and a counter that is exhausted carries into the next tick.

import { optionError } from '../base/errors.ts'
import type { LayoutFacts } from '../codec/facts.ts'
import { isNode } from '../codec/packing.ts'

/** The figures of a function's SQL. */
export interface FunctionPlan {
  node: number
  epoch: number
  tickNs: number
  counterBits: number
  counterShift: number
  tickShift: number
  lastTick: bigint
  lastPosition: bigint
  /** the node's bits in an ID, as a signed number of 64 bits */
  nodeBits: bigint
  /** of the layout: see fingerprintOf() */
  fingerprint: string
  /** the mark of the function, by which stores find it: one line */
  comment: string
  /** the mark of its state, the object that keeps the last position: one line. The state is another's without it. */
  stateComment: string
}

/** A function that a store found in its database. */
export interface DatabaseFunction {
  name: string
  node: number
  /** of the layout: see fingerprintOf() */
  fingerprint: string
}

type Field = { name: string; width: number; shift: number }

function fieldsOf({ fields }: LayoutFacts): Field[] {
  let shift = fields.reduce((bits, [, width]) => bits + width, 0)
  return fields.map(([name, width]) => {
    shift -= width
    return { name, width, shift }
  })
}

/** Throws unless an ID of the layout is a tick, a counter and a node. */
function checkFit({ name, host, mode, idOffset }: LayoutFacts, fields: Field[]) {
  const lacks = ['timestamp', 'counter'].find((wanted) => !fields.some((field) => field.name === wanted))
  const why =
    (host !== undefined && 'its IDs are decimal') ||
    (mode !== undefined && 'its timestamp has a mode') ||
    (idOffset !== undefined && 'it has an offset') ||
    (lacks !== undefined && `it has no ${lacks}`) ||
    (!fields.some((field) => isNode(field.name)) && 'it has no node field')
  if (why === false) return
  const wayOut = 'choose flake, twitter, discord, instagram, snowcast, safe, or your own fields'
  throw optionError(RangeError, 'layout', name, `SQL cannot make IDs of layout '${name}', because ${why}: ${wayOut}`)
}

function only(fields: Field[], name: string) {
  const found = fields.find((field) => field.name === name) as Field
  return { width: BigInt(found.width), shift: found.shift }
}

/** The node's bits: the node fields joined, the first one most significant. */
function nodeBitsOf(node: number, fields: Field[]) {
  let rest = BigInt(node)
  let bits = 0n
  for (const { width, shift } of fields.filter(({ name }) => isNode(name)).reverse()) {
    bits |= (rest & ((1n << BigInt(width)) - 1n)) << BigInt(shift)
    rest >>= BigInt(width)
  }
  return BigInt.asIntN(64, bits)
}

/** A user's name for a layout or a field, without characters that mean something in SQL, in a client or in our comment. */
const plain = (name: string) =>
  name.replace(/[^\w.-]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Which bits mean what: members whose fingerprint is equal and whose node is another one make other IDs. It is made of the
 * layout's facts alone, since `flakeforge schema` has to work where there is no addon.
 */
export const fingerprintOf = ({ epoch, tickMs, fields, idOffset }: LayoutFacts): string => {
  const bits = `epoch ${epoch}, tick ${tickMs} ms, fields ${fields.map(([name, width]) => `${plain(name)} ${width}`).join(' ')}`
  return idOffset ? `${bits}, idOffset ${idOffset}` : bits
}

/** @param node a whole node number of the layout */
export function planOf(facts: LayoutFacts, node: number): FunctionPlan {
  const fields = fieldsOf(facts)
  checkFit(facts, fields)
  const [tick, counter] = [only(fields, 'timestamp'), only(fields, 'counter')]
  return {
    node,
    epoch: facts.epoch,
    tickNs: facts.tickNs,
    counterBits: Number(counter.width),
    counterShift: counter.shift,
    tickShift: tick.shift,
    lastTick: (1n << tick.width) - 1n,
    lastPosition: (1n << (tick.width + counter.width)) - 1n,
    nodeBits: nodeBitsOf(node, fields),
    fingerprint: fingerprintOf(facts),
    comment: `${COMMENT_START}${detailsOf(facts, node)}. Only this function may make IDs of this node: leave it out of your groups, and use another node in each database.`,
    stateComment: `flakeforge state of node ${detailsOf(facts, node)}. Never set it back, and never drop it alone.`,
  }
}

/** The beginning of the marks of functions. */
export const COMMENT_START = 'flakeforge node '

/** Which IDs they are. The names are plain: MySQL takes no escapes here. */
const detailsOf = (facts: LayoutFacts, node: number) =>
  `${node}, layout ${JSON.stringify(plain(facts.name))}, bits ${JSON.stringify(fingerprintOf(facts))}`

const JSON_TEXT = String.raw`"(?:[^"\\\p{Cc}]|\\(?:["\\bfnrt]|u[0-9a-f]{4}))*"`
const MARKED = new RegExp(`^${COMMENT_START}(\\d+), layout ${JSON_TEXT}, bits (${JSON_TEXT})`, 'u')

/** The functions among these, by their names and marks. */
export const foundFunctions = (found: [name: string, mark: string][]): DatabaseFunction[] =>
  found.flatMap(([name, mark]) => {
    const [, node, bits] = MARKED.exec(mark) ?? []
    return node === undefined ? [] : [{ name, node: Number(node), fingerprint: JSON.parse(bits) }]
  })
