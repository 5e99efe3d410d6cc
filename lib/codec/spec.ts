// Checks a layout's definition by the rules of core/src/layout/spec.rs: a dialect's name or a user's own fields, and the
// choices that some layouts have. lib/codec/facts.ts makes a layout from it.

import * as errors from '../base/errors/values.ts'
import * as wanted from '../base/errors/wanted.ts'
import type { TemporalInstant } from '../base/objects.ts'
import { checkKeys, type Options, ownOf, readBounded, readInstant } from '../base/values.ts'
import dialects, { type Dialect } from './dialects.ts'
import { isNode, withNodes } from './packing.ts'

/**
 * A layout of your own. Write it where it is used, or as a constant with `as const satisfies LayoutSpec`, so that the types
 * know the names of its fields. After `const spec: LayoutSpec = …` they do not.
 */
export interface LayoutSpec {
  /** the name in error messages; default `'custom'` */
  name?: string | undefined
  /** Unix ms of tick 0, a Date or a Temporal.Instant; default 0 */
  epoch?: number | Date | TemporalInstant | undefined
  /** length of a tick in ms; default 1. It must be a whole number of nanoseconds. */
  tickMs?: number | undefined
  /**
   * Names and widths in bits (1…63), the most significant first, 64 bits in total. There must be exactly one `'timestamp'`
   * and at most one `'counter'`, which many systems call sequence. `'zero'` stands for unused bits, such as the first one of
   * 63-bit IDs. All other fields together are the node number, 53 bits at most. Names of options and of `Parts` cannot be
   * used.
   */
  fields: ReadonlyArray<readonly [name: string, bits: number]>
  /** as in {@link LayoutSettings} */
  idOffset?: bigint | number | string | undefined
  /** only in copies of a snowcast layout */
  nodes?: number | undefined
  /** `'spread'` writes the bits of the timestamp in reverse order; see the option `mode` of a generator */
  mode?: 'spread' | 'sequential' | undefined
}

export interface LayoutSettings {
  /** Unix ms of tick 0, a Date or a Temporal.Instant; default: the layout's own epoch */
  epoch?: number | string | Date | TemporalInstant | null | undefined
  /**
   * An integer from −2^63 to 2^63 − 1 that is added to every ID (Hazelcast's id-offset): a bigint, a safe integer, or decimal
   * text. If it pushes an ID out of 64 bits, that ID's time is out of range.
   */
  idOffset?: bigint | number | string | null | undefined
}

/** The choice of a mode, which all layouts except the decimal ones (chronicle and chronicle-micros) have. */
export interface ModeChoices {
  /**
   * `'spread'` writes the bits of the timestamp in reverse order, so that the IDs of consecutive ms are far apart. A database
   * that splits tables by ranges of the key then gets equally many IDs in each range. Such IDs do not sort by time, and have
   * no `range`. Default `'sequential'`; for uniqueid, whose IDs contain their mode, `'spread'`.
   */
  mode?: 'spread' | 'sequential' | null | undefined
}

const DIALECTS = dialects.map(({ name }) => name)
const SPEC = ['name', 'epoch', 'tickMs', 'fields', 'idOffset', 'mode']
const COPY = [...SPEC, 'nodes']

/** Names that options and decoded parts already use; fields cannot have them. */
const RESERVED = (
  'id epoch seqMask counterStart layout nodes mode nodeOffset idOffset maxAheadMs maxWaitMs shared prefetch clock group slots ttlMs ' +
  'skewMs waitMs date tick toJSON'
).split(' ')

/** Properties of every object, before a program adds to them. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype)

/** A layout's definition: a dialect's name, or the name and the bits of a user's own. */
export type Definition = { name: string; tickNs?: number; fields?: [string, number][] }

/** The choices that some layouts have, as users give them. */
export type GivenChoices = { epoch?: unknown; nodes?: unknown; mode?: unknown; idOffset?: unknown }

/** What a layout's definition says: the layout as it is without choices, and the choices. */
interface Read {
  base: Definition & { epoch?: number }
  choices: GivenChoices
}

/** A dialect's name, a user's own layout, or a copy of a Layout. */
export function readSpec(given: unknown): Read {
  if (typeof given === 'string') {
    if (!DIALECTS.includes(given)) throw errors.unknownLayoutError(given, DIALECTS)
    return { base: dialect(given), choices: {} }
  }
  if (typeof given !== 'object' || given === null) {
    throw errors.optionTypeError('layout', given, wanted.LAYOUT)
  }
  // A Layout of another copy would show its fields, but not everything that it does with them.
  if (given.constructor?.name === 'Layout') {
    throw errors.optionTypeError('layout', given, `${wanted.LAYOUT}; this Layout is from another copy of flakeforge`)
  }
  const row = dialectOfCopy(ownOf(given))
  const spec = checkKeys('layout', given, row ? COPY : SPEC)
  const { name = 'custom', nodes, mode } = spec
  if (typeof name !== 'string' || name === '') throw errors.optionTypeError('name', name, 'a string that is not empty')
  const tickNs = readTickNs(spec.tickMs ?? 1)
  const epoch = readInstant('epoch', spec.epoch ?? 0)
  const { idOffset } = spec
  if (row !== undefined) {
    return { base: dialect(name), choices: { epoch: epoch === row.epoch ? undefined : epoch, nodes, mode, idOffset } }
  }
  return { base: { name, tickNs, fields: readFields(spec.fields), epoch }, choices: { idOffset, mode } }
}

const dialect = (name: string) => ({ name, epoch: undefined }) // an own property, not an inherited one

/**
 * The dialect whose Layout was copied. The copy has to become it again, because fields do not say everything: uniqueid reverses
 * bits, and the decimal layouts have no fields.
 */
function dialectOfCopy({ name, tickMs = 1, fields: copied, nodes }: Options) {
  const row = ownOf(dialects.find((dialect) => dialect.name === name)) as unknown as Dialect
  const { fields = [], tickNs = 1_000_000, hasNodes } = row
  if (row.name === undefined || tickMs !== tickNs / 1e6 || !Array.isArray(copied)) return
  const own = withNodes(fields, hasNodes && typeof nodes === 'number' ? nodes : undefined)
  const isSame = ([field, bits]: [string, number], i: number) =>
    Array.isArray(copied[i]) && copied[i].length === 2 && copied[i][0] === field && copied[i][1] === bits
  if (copied.length === own.length && own.every(isSame)) return row
}

/** An integer as a number or as text, as JSON has it; 20 digits at most, since longer texts take BigInt() long. */
function bigintOf(given: unknown) {
  const isExact = typeof given === 'string' ? /^-?\d{1,20}$/.test(given) : Number.isSafeInteger(given)
  return isExact ? BigInt(given as string | number) : given
}

function readTickNs(tickMs: unknown) {
  if (typeof tickMs !== 'number') throw errors.optionTypeError('tickMs', tickMs, 'a number of milliseconds')
  const ns = Math.round(tickMs * 1e6)
  if (!(ns >= 1 && ns <= Number.MAX_SAFE_INTEGER) || Math.abs(ns / 1e6 - tickMs) > tickMs * 1e-12) {
    throw errors.optionRangeError('tickMs', tickMs, wanted.WHOLE_NS)
  }
  return ns
}

function readFields(given: unknown): [string, number][] {
  if (!Array.isArray(given)) {
    throw errors.optionTypeError('fields', given, wanted.PAIRS)
  }
  const fields = [...given] // a hole becomes undefined
  fields.forEach(checkField)
  fields.forEach(checkAmongOthers)
  checkTogether(fields, given)
  return fields.map(([name, bits]) => [name, bits])
}

/** `ERR_FLAKE_OPTION` about one field. */
const fieldError = (i: number, field: unknown, must: string) => errors.fieldsError(`fields[${i}]`, field, must)

function checkField(field: unknown, i: number) {
  const isPair =
    Array.isArray(field) && field.length === 2 && typeof field[0] === 'string' && Number.isInteger(field[1])
  if (!isPair) throw errors.optionTypeError(`fields[${i}]`, field, wanted.PAIR)
  const [name, bits] = field
  if (RESERVED.includes(name) || INHERITED.includes(name)) {
    throw fieldError(i, field, wanted.otherName(name))
  }
  if (bits < 1 || bits > 63) throw fieldError(i, field, wanted.oneWord(name, bits))
}

const WIDEST = 53 // a number holds no more bits exactly

function checkAmongOthers(field: [string, number], i: number, fields: [string, number][]) {
  const [name, bits] = field
  if (name === 'counter' && bits > WIDEST) {
    throw fieldError(i, field, wanted.counterBits(WIDEST, bits))
  }
  if (name === '') throw fieldError(i, field, wanted.A_NAME)
  const isRepeated = fields.slice(0, i).some((other) => other[0] === name)
  if (isRepeated && name !== 'zero') throw fieldError(i, field, wanted.ownName(name))
}

/** Other systems' names of the counter. As a node field it would leave one ID for each tick. */
const COUNTERS =
  'seq sequence seqid sequenceid seqno seqnum seqnumber sequenceno sequencenumber count counters inc incr increment autoinc autoincrement step steps'.split(
    ' ',
  )
const isCounter = (name: string) => COUNTERS.includes(name.toLowerCase().replace(/[-_ ]/g, ''))

function checkTogether(fields: [string, number][], given: unknown) {
  const at = fields.some(([name]) => name === 'counter') ? -1 : fields.findIndex(([name]) => isCounter(name))
  if (at >= 0) throw fieldError(at, fields[at], wanted.counterName(fields[at][0]))
  const bitsOf = (some: [string, number][]) => some.reduce((sum, [, bits]) => sum + bits, 0)
  const bits = bitsOf(fields)
  const node = bitsOf(fields.filter(([name]) => isNode(name)))
  if (!fields.some(([name]) => name === 'timestamp'))
    throw errors.fieldsError('fields', given, "have a field 'timestamp'")
  if (bits !== 64) throw errors.fieldsError('fields', given, wanted.allBits(bits))
  if (node > WIDEST) throw errors.fieldsError('fields', given, wanted.nodeBits(WIDEST, node))
}

/** snowcast's number of nodes. */
export function readNodeCount(nodes: unknown, { name, hasNodes }: { name: string; hasNodes: boolean }) {
  if (!hasNodes) throw errors.unusableOptionError('nodes', nodes, wanted.withLayout(name, 'nodes'))
  return readBounded('nodes', nodes, 128, 8192)
}

/** Hazelcast's id-offset; undefined for 0, which changes nothing. */
export function readIdOffset(given: unknown) {
  const bounds = 'a bigint from −2^63 to 2^63 − 1, or a safe integer'
  const offset = bigintOf(given)
  if (typeof offset !== 'bigint') throw errors.optionTypeError('idOffset', given, bounds)
  if (BigInt.asIntN(64, offset) !== offset) throw errors.optionRangeError('idOffset', offset, bounds)
  return offset || undefined
}
