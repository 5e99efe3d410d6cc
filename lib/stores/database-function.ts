// What `flakeforge schema --function` needs to know of a layout, whatever the database: where tick, counter and node are in an
// ID, and the marks that identify the function and its state.
//
// The state of a function is the position of its last ID, the tick above the counter: tick << counter bits | counter. It only
// grows. So IDs are never equal, whatever the clock does, and a counter that is exhausted carries into the next tick.

import { optionError } from '../base/errors.ts'
import type { LayoutFacts } from '../codec/facts.ts'

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

/** Throws unless an ID of the layout is a tick, a counter and a node. */
function checkFit({ name, host, mode, hasModeBit, idOffset, packing }: LayoutFacts) {
  const isReversed = mode !== undefined
  const why =
    (isReversed && 'the bits of its timestamp may be reversed (mode)') ||
    (host !== undefined && 'its IDs are decimal') ||
    (idOffset !== undefined && 'it has an offset') ||
    (packing.time.width === 0 && 'it has no timestamp') ||
    (packing.counter.width === 0 && 'it has no counter') ||
    (packing.nodeFields.length === 0 && 'it has no node field')
  if (why === false) return
  const wayOut =
    isReversed && !hasModeBit
      ? 'leave out the mode'
      : 'choose flake, twitter, discord, instagram, snowcast, safe, or your own fields'
  throw optionError(
    RangeError,
    'layout',
    name,
    `SQL cannot generate IDs of layout '${name}', because ${why}: ${wayOut}`,
  )
}

/** A user's name for a layout or a field, without characters that mean something in SQL, in a client or in our comment. */
const plain = (name: string) =>
  name.replace(/[^\w.-]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Which bits mean what: members whose fingerprint is equal and whose node is different generate different IDs. It is made of the
 * layout's facts alone, since `flakeforge schema` has to work where there is no addon.
 */
export const fingerprintOf = ({ epoch, tickMs, fields, idOffset, mode, hasModeBit }: LayoutFacts): string => {
  const order = mode === undefined || hasModeBit ? '' : ', timestamp reversed'
  const bits = `epoch ${epoch}, tick ${tickMs} ms, fields ${fields.map(([name, width]) => `${plain(name)} ${width}`).join(' ')}`
  return `${bits}${order}${idOffset ? `, idOffset ${idOffset}` : ''}`
}

/** @param node a whole node number of the layout */
export function planOf(facts: LayoutFacts, node: number): FunctionPlan {
  checkFit(facts)
  const { time, counter, tickMax, counterMax } = facts.packing
  return {
    node,
    epoch: facts.epoch,
    tickNs: facts.tickNs,
    counterBits: counter.width,
    counterShift: counter.shift,
    tickShift: time.shift,
    lastTick: tickMax,
    lastPosition: (tickMax << BigInt(counter.width)) | BigInt(counterMax),
    nodeBits: BigInt.asIntN(64, facts.packing.pack(0n, 0, node)),
    fingerprint: fingerprintOf(facts),
    comment: `${COMMENT_START}${detailsOf(facts, node)}. Only this function may generate IDs of this node: leave it out of your groups, and use another node in each database.`,
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
