// A layout as users see it: the meaning of an ID's bits, encoding and decoding. The same file works in Node and in browsers;
// packing.ts knows the bits. Parts that do not fit are refused, never masked.

import * as errors from '../base/errors/values.ts'
import * as wanted from '../base/errors/wanted.ts'
import type { TemporalInstant } from '../base/objects.ts'
import {
  checkKeys,
  checkUnit,
  isAbsent,
  isDate,
  isUsualMs,
  type Options,
  ownOf,
  readBounded,
  readTime,
  timeOfText,
} from '../base/values.ts'
import dialects, { type Dialect } from './dialects.ts'
import { factsOfSpec, LayoutFacts, readMode } from './facts.ts'
import type { IdBytes, IdLike } from './ids.ts'
import { HIGH, half, LOW, put, toBytes, word, wordToBytes } from './ids.ts'
import type { AnyLayout, LayoutName, LayoutOptions } from './node-fields.ts'
import { MODES, type Packing, partOf } from './packing.ts'
import type { Parts, PartsToEncode } from './parts.ts'
import * as uuids from './uuid.ts'

/** Unix ms, a Date, a Temporal.Instant, or Unix ns as a bigint */
type Instant = number | bigint | Date | TemporalInstant

type Decoded = DecodedParts & Record<string, unknown>

const NS_PER_MS = 1_000_000n
const NS_PER_S = 1_000_000_000n

/** Seconds as a Date writes them (years before 0 or after 9999 have a sign and six digits), then nanoseconds. */
const TIME = /^((?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?$/

const CHOICES = ['epoch', 'nodes', 'mode', 'idOffset']

/** The parts of an ID. The caller adds the mode and the node fields, which not all layouts have. */
class DecodedParts {
  timestamp
  date
  tick
  counter
  id

  constructor(timestamp: number, date: Date, tick: bigint, counter: number, id: number) {
    this.timestamp = timestamp
    this.date = date
    this.tick = tick
    this.counter = counter
    this.id = id
  }

  /** The same with the tick as text: JSON has no bigints. */
  toJSON() {
    return { ...this, tick: String(this.tick) }
  }
}

// With it, console.log shows a plain object, and most libraries compare it as one. A non-enumerable toJSON on each object
// would suit assert.deepStrictEqual too, but would cost more than all of decode().
Object.defineProperty(DecodedParts.prototype, 'constructor', { value: Object })

// V8 keeps a number in a separate box where a property has only ever held numbers. Once it has held something else, the box
// that `new Date` needs anyway is enough. This makes decode() 7% faster.
// @ts-expect-error: no parts of an ID
void new DecodedParts('', undefined, 0, '', '')

// A named type, and `decode` a property, so that the compiler compares two of them by `L`. A generator of any layout is
// therefore also a plain `FlakeId`, even if its class is a user's own.
/** The type of `FlakeId.decode`: takes an ID, and returns its fields and its time. */
export type Decode<L extends AnyLayout> = (id: IdLike) => Parts<L>

/** The facts of a layout, for lib/ only: just the class can read this private field. */
let factsOfLayout: (layout: Layout) => LayoutFacts

/** Names a property that only symbols find. The compiler infers its value, unlike that of a private field. */
const PACKING = Symbol('flakeforge.packing')

/**
 * The meaning of an ID's 64 bits.
 *
 * `L` is the name of a layout, or your own definition, and determines the names of the node fields. `Layout` without a type
 * argument is any layout.
 *
 * @example
 * import { Layout, layouts } from 'flakeforge'
 * layouts.discord.decode('175928847299117063').date // 2016-04-30T11:18:25.796Z
 * const mine = new Layout({ epoch: 1577836800000, fields: [['timestamp', 41], ['shard', 13], ['counter', 10]] })
 * mine.encode({ timestamp: new Date(), shard: 5 })
 */
export class Layout<const L extends AnyLayout = AnyLayout> {
  readonly name: string
  /** Unix ms of tick 0 */
  readonly epoch: number
  /** names and widths in bits, the most significant first; empty for the chronicle layouts, which are decimal */
  readonly fields: ReadonlyArray<readonly [name: string, bits: number]>
  /**
   * Length of a tick in ms: 1 for most layouts, 10 for sonyflake, 0.0001 for chronicle. Together with the other properties it
   * forms a spec, so a Layout made from a copy (`{ ...layout }`, JSON, structuredClone) is the same layout.
   */
  readonly tickMs: number
  /**
   * `idOffset` and `nodes` are present only if they were given; `mode` is present only if it is not the layout's default, or
   * for uniqueid if it was given
   */
  declare readonly idOffset?: bigint | undefined
  declare readonly nodes?: number | undefined
  declare readonly mode?: 'spread' | 'sequential' | undefined

  #facts: LayoutFacts

  static {
    factsOfLayout = (layout) => layout.#facts
  }

  /**
   * @param spec the name of a layout, the definition of your own, or a layout or its copy whose options you want to change
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the layout is impossible. The message names the field and the
   * reason.
   */
  constructor(spec: L | Layout<L>, options?: LayoutOptions<L> | null) {
    const facts = spec instanceof LayoutFacts ? spec : factsOf(spec).with(checkKeys('options', options, CHOICES))
    this.#facts = facts
    Object.defineProperty(this, PACKING, { value: facts.packing })
    this.name = facts.name
    this.epoch = facts.epoch
    this.fields = facts.fields
    this.tickMs = facts.tickMs
    const { idOffset, nodes, mode } = facts.choices
    if (idOffset !== undefined) this.idOffset = idOffset
    if (nodes !== undefined) this.nodes = nodes
    if (mode !== undefined) this.mode = mode
    Object.freeze(this)
  }

  /** the first instant that the layout can no longer express; flake with epoch 0: 2109-05-15 */
  get end(): Date {
    return new Date(this.#facts.packing.end())
  }

  /**
   * The first instant at which some ID, whatever its node and counter, does not fit into a signed 64-bit column; flake with
   * epoch 0: 2039-09-07. If the highest bit belongs to the node or the counter, or to a reversed timestamp, this is the epoch
   * or just after it. If that bit is always 0, this is `end`.
   */
  get signedEnd(): Date {
    return new Date(this.#facts.packing.signedEnd())
  }

  /** The layout's properties, with `idOffset` as text, because JSON has no bigints. */
  toJSON() {
    const { idOffset } = this.#facts.choices
    return idOffset === undefined ? { ...this } : { ...this, idOffset: String(idOffset) }
  }

  /**
   * The parts of an ID.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID, or not an ID of this layout, because a bit that must be 0 is set.
   */
  decode(id: IdLike): Parts<L> {
    if (typeof id !== 'bigint') put(id)
    else {
      word[0] = id
      if (word[0] !== id) put(id) // throws
    }
    const packing = (this as unknown as { [PACKING]: Packing })[PACKING]
    if (!packing.isPlain) return this.#decodeOther(id)
    const high = half[HIGH]
    const low = half[LOW]
    if (packing.zero.isSet(high, low)) throw this.#notOne(id)
    const { first, second } = packing
    const tick = packing.time.read(high, low)
    const timestamp = packing.epoch + tick * packing.tickMs
    const date = new Date(timestamp) // before the other objects: half of the work, and V8 makes those at once
    const counter = (low & packing.counter.low) >>> packing.counter.shift
    const a = (low & first.low) >>> first.shift
    const b = (low & second.low) >>> second.shift
    half[LOW] = tick
    half[HIGH] = tick * 2 ** -32
    const made = new DecodedParts(timestamp, date, word[0], counter, a * first.unit + b)
    const decoded = made as Decoded
    if (first.name) decoded[first.name] = a
    if (second.name) decoded[second.name] = b
    return decoded as unknown as Parts<L>
  }

  /** The parts of the ID in `word`, for any layout. */
  #decodeOther(id: unknown): Parts<L> {
    const { packing } = this.#facts
    const found = packing.unpack()
    if (!found) throw this.#notOne(id)
    const { tick, timestamp, counter, node, mode } = found
    const decoded = new DecodedParts(timestamp, new Date(Math.floor(timestamp)), tick, counter, node) as Decoded
    if (mode) decoded.mode = mode
    // Two names in one place, as in a loop, would make V8 look up each of them, which is slower than all the rest.
    const { nodeFields } = packing
    if (nodeFields.length > 0) decoded[nodeFields[0].name] = partOf(nodeFields[0], node)
    if (nodeFields.length > 1) decoded[nodeFields[1].name] = partOf(nodeFields[1], node)
    for (let i = 2; i < nodeFields.length; i++) decoded[nodeFields[i].name] = partOf(nodeFields[i], node)
    return decoded as unknown as Parts<L>
  }

  #notOne(id: unknown) {
    return errors.idError(id, wanted.idOfLayout(this.name))
  }

  /**
   * Returns the ID with these parts: the inverse of `decode`.
   * @param parts the time as `tick`, `timestamp` or `date`; `counter` (default 0); the node as `id` or by its fields (default
   * 0); `mode`
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: a part does not fit into its field, or contradicts another. To
   * change the time of `decode`'s parts, leave out the other two of `tick`, `timestamp` and `date`.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the layout cannot express the time, or a number is not Unix ms, judging by its
   * size.
   */
  encode(parts: PartsToEncode<L>): IdBytes {
    if (typeof parts !== 'object' || parts === null) throw errors.optionTypeError('parts', parts, 'an object')
    return encode(isClean(parts, this.#facts) ? (parts as Options) : ownOf(parts), this, this.#facts)
  }

  /**
   * The smallest and the largest ID of an instant, or of the time from one instant to another (both included), over all nodes:
   * the bounds for `WHERE id BETWEEN …`. A time is Unix ms, a Date, a Temporal.Instant, or Unix ns as a bigint. A Date or a
   * whole number of ms covers the millisecond that starts there, even in layouts with finer ticks. A fraction of a ms may
   * stand for several ticks of less than 1 µs: the range then includes all of them. A range is clipped to the times that the
   * layout has.
   * @throws {RangeError} `ERR_FLAKE_OPTION`: IDs of this layout are not ordered by time, or `to` is before `from`.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the whole range lies outside the layout; or, judging by its size, a number is
   * not Unix ms or a bigint is not Unix ns.
   */
  range(from: Instant, to?: Instant): { min: IdBytes; max: IdBytes } {
    const { packing } = this.#facts
    if (!packing.isTimeOrdered) throw errors.fieldsError('layout', this.name, wanted.inOrder(this.name))
    const end = to ?? from
    const times = [spanOf('from', from, this).first, spanOf('to', end, this).last] as const
    const sides = [packing.sideOf(times[0]), packing.sideOf(times[1])]
    if (sides[0] === 1) throw timeError(toMs(from), this, 'from')
    if (sides[0] > sides[1]) throw errors.optionRangeError('to', to, wanted.laterThan(from))
    if (sides[1] === -1) throw timeError(toMs(end), this, isAbsent(to) ? 'from' : 'to')
    const { first, last } = packing.ticksOf(...times)
    if (first > last) throw errors.optionRangeError('to', to, wanted.laterThan(from))
    return packing.range(first, last)
  }

  /**
   * The ID as a UUID of version 8 (RFC 9562), in lower case, for a `uuid` column. The UUIDs of a layout sort in the same order
   * as their IDs, both as text and as 16 bytes. Therefore, `toUuid(min)` and `toUuid(max)` of a `range` are the bounds for
   * `WHERE id BETWEEN …`.
   *
   * | digits | meaning |
   * |---|---|
   * | `687e4889-8912` | the first 48 bits of the ID |
   * | `-8` | the version |
   * | `700` | the next 12 bits |
   * | `-85` | two bits of variant, `10`; the last 4 bits of the ID; two bits that are `01` |
   * | `8f-670cd8eec840` | the mark: the same in all UUIDs of a layout |
   *
   * The mark depends on how the time is encoded: epoch, tick, the position and order of the timestamp's bits, and `idOffset`.
   * It does not depend on the name, the node fields, the counter, or the mode of uniqueid, whose IDs contain it. The mark is
   * the last 56 bits of the 64-bit FNV-1a hash of a text; for `flake`, that text is `'flakeforge: epoch 0 ms, tick 1000000 ns,
   * timestamp 42 bits at 22, idOffset 0'`. For the decimal layouts, `decimal` replaces `timestamp 42 bits at 22`, where 22 is
   * the number of bits after the timestamp. In mode `'spread'` of any layout except uniqueid, `timestamp reversed` replaces
   * `timestamp`.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID, or not an ID of this layout.
   * @example
   * layouts.flake.toUuid('0x687e488989127001') // '687e4889-8912-8700-858f-670cd8eec840'
   */
  toUuid(id: IdLike): string {
    return uuids.toUuid(id, this.#facts)
  }

  /**
   * The ID of a UUID that `toUuid` returned. Upper case is accepted.
   * @throws {TypeError} `ERR_FLAKE_ID`: any other text or UUID: of another version or program, or of a layout that encodes
   * times differently. The message gives the reason.
   */
  fromUuid(text: string): IdBytes {
    return uuids.fromUuid(text, this.#facts)
  }

  /**
   * Chronicle layouts: the ID as a time with nine digits, `2021-12-28T14:07:02.954100128`. The last digits show the host.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID.
   */
  toText(id: IdLike): string {
    const unit = this.#unitNs('toText')
    const { tick, id: host } = this.decode(id)
    const ns = (tick * 100n + BigInt(host)) * unit + this.#facts.packing.epochNs
    const fraction = ((ns % NS_PER_S) + NS_PER_S) % NS_PER_S // counts upwards before 1970, too
    const date = new Date(Number((ns - fraction) / NS_PER_S) * 1000)
    if (Number.isNaN(date.getTime())) throw errors.idError(id, wanted.SHOWN_TIME)
    return `${date.toISOString().slice(0, -5)}.${String(fraction).padStart(9, '0')}`
  }

  /**
   * Chronicle layouts: the ID of a text that `toText` returned, or that Chronicle wrote: trailing zeros may be missing, and
   * `Z` or an offset such as `+01:00` may follow.
   * @throws {TypeError} `ERR_FLAKE_ID`: the text does not represent an ID.
   */
  fromText(text: string): IdBytes {
    const unit = this.#unitNs('fromText')
    const [, seconds, fraction = '', zone = 'Z'] = (typeof text === 'string' && TIME.exec(text)) || []
    const ms = Date.parse(`${seconds}${zone}`)
    if (Number.isNaN(ms)) throw errors.idError(text, wanted.NINE_DIGITS)
    // Date.parse takes the 30th of February for the 2nd of March.
    const read = new Date(Date.parse(`${seconds}Z`))
    if (read.toISOString().slice(0, -5) !== seconds) throw errors.idError(text, wanted.EXISTING_DAY)
    const ns = BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0')) - this.#facts.packing.epochNs
    const count = ns / unit
    if (ns < 0n || ns % unit !== 0n || count / 100n > this.#facts.packing.tickMax) {
      throw errors.idError(text, wanted.timeInUnits(unit))
    }
    return this.encode({ tick: count / 100n, id: Number(count % 100n) } as PartsToEncode<L>)
  }

  /** Decimal IDs count ns or µs; a tick has a hundred of them. */
  #unitNs(call: string) {
    if (this.fields.length) throw errors.optionRangeError('layout', this.name, wanted.chronicle(call))
    return BigInt(this.#facts.tickNs) / 100n
  }
}

/**
 * Whether an ordinary object inherits no part, so that it can be read without a copy, which would cost more than all of
 * encode().
 */
function isClean(parts: object, { nodeFields }: LayoutFacts) {
  const prototype = Object.getPrototypeOf(parts)
  if (prototype === null) return true
  if (prototype !== Object.prototype && prototype !== DecodedParts.prototype) return false
  const { timestamp, date, tick, counter, id, mode } = prototype
  for (let i = 0; i < nodeFields.length; i++) if (prototype[nodeFields[i].name] !== undefined) return false
  return (timestamp ?? date ?? tick ?? counter ?? id ?? mode) === undefined
}

/** The ID with these parts. */
function encode(parts: Options, layout: Layout, facts: LayoutFacts) {
  for (const name in parts) {
    if (facts.partNames.includes(name) || !Object.hasOwn(parts, name)) continue
    throw errors.unknownOptionError(name, parts[name], facts.partNames, 'part')
  }
  const { counter, mode } = parts
  const { packing } = facts
  const count = isAbsent(counter) ? 0 : readBounded('counter', counter, 0, facts.packing.counterMax)
  const chosen = isAbsent(mode) ? undefined : readPartMode(mode, facts)
  const node = facts.readNode(parts)
  const number = packing.isNumeric ? tickNumber(parts, packing) : undefined
  if (number !== undefined) {
    packing.put(number, count, node, chosen)
    return wordToBytes()
  }
  return toBytes(packing.pack(tickOfParts(parts, layout, packing), count, node, chosen))
}

/** The mode of an ID. Where IDs do not contain it, it is that of the layout. */
function readPartMode(mode: unknown, facts: LayoutFacts) {
  const chosen = readMode(mode, facts)
  if (facts.hasModeBit) return chosen
  const own = facts.mode ?? MODES[1]
  if (chosen !== own) throw errors.optionRangeError('mode', mode, wanted.ownMode(own))
  return undefined
}

/** The tick as a number, for a numeric layout; undefined if the slower path has to read the parts. */
function tickNumber({ tick, timestamp, date }: Options, packing: Packing) {
  let number
  let most = packing.lastNumber
  if (typeof tick === 'bigint') {
    word[0] = tick
    if (word[0] !== tick) return
    number = half[HIGH] * 2 ** 32 + half[LOW]
    most = packing.mostNumber
    const start = packing.epoch + number * packing.tickMs
    if (!isAbsent(timestamp) && timestamp !== start) return
    if (!isAbsent(date) && !(isDate(date) && date.getTime() === start)) return
  } else if (isAbsent(tick) && isAbsent(date) && typeof timestamp === 'number') {
    if (!isUsualMs(timestamp)) return
    number = Math.floor((Math.floor(timestamp) - packing.epoch) / packing.tickMs)
  } else return
  if (number >= 0 && number <= most) return number
}

/**
 * The error for a time that a layout cannot express.
 * @param argument the argument that held the time; without it, the time is the clock's
 */
export function timeError(ms: number, layout: { name: string; epoch: number }, argument?: string) {
  const { name, epoch, [PACKING]: packing } = layout as typeof layout & { [PACKING]: Packing }
  const begin = packing.startMs(packing.tickMin)
  return errors.timeRangeError(ms, { name, epoch, begin, end: packing.end(), idOffset: packing.offset }, argument)
}

/** The tick on which the given ones of `tick`, `timestamp` and `date` agree. */
function tickOfParts(parts: Options, layout: Layout, packing: Packing) {
  let source = 'tick'
  let found = isAbsent(parts.tick) ? undefined : readTick(parts.tick, packing)
  for (const name of ['timestamp', 'date']) {
    const value = timeOfText(parts[name])
    if (isAbsent(value)) continue
    if (found !== undefined && isBeyondDates(value, packing.startMs(found))) continue
    const time = found === undefined ? timeOf(name, value, layout) : readTime(name, value)
    const isOfDate = isDate(value)
    if (found === undefined) {
      found = isOfDate ? packing.tickOfDate(time as number) : packing.tickOf(time)
      source = name
      if (found === undefined) throw timeError(toMs(value), layout, name)
    } else if (!packing.isOf(found, time, isOfDate)) {
      const must = wanted.inTick(parts[name], source, parts[source], packing.startMs(found))
      throw errors.fieldsError(name, parts[name], must)
    }
  }
  if (found === undefined) throw errors.optionTypeError('timestamp', undefined, wanted.A_TIME)
  return found
}

/** Whether this is the Date that decode() gives for a tick beyond the range of a Date. */
const isBeyondDates = (date: unknown, startMs: number) =>
  isDate(date) && Number.isNaN(date.getTime()) && Number.isNaN(new Date(startMs).getTime())

/** A tick, also as text: JSON has no bigints. */
function readTick(given: unknown, { tickMin: min, tickMax: max, offset }: Packing) {
  const wanted = `a bigint from ${min} to ${max}${offset ? ', because of idOffset' : ''}`
  const tick = typeof given === 'string' && /^\d{1,20}$/.test(given) ? BigInt(given) : given
  if (typeof tick !== 'bigint') throw errors.optionTypeError('tick', given, wanted)
  if (tick < min || tick > max) throw errors.optionRangeError('tick', given, wanted)
  return tick
}

/** A time that was given to `option`; refused if its unit looks wrong. A Date has none. */
function timeOf(option: string, given: unknown, { epoch }: Layout) {
  const time = readTime(option, given)
  if (typeof given !== 'object') checkUnit(option, time, epoch)
  return time
}

/** The first and the last instant that a time denotes: a Date or a whole number of ms is a millisecond long. */
function spanOf(option: string, given: unknown, layout: Layout) {
  const time = timeOf(option, given, layout)
  if (typeof time === 'bigint' || !Number.isInteger(time)) return { first: time, last: time }
  const first = BigInt(time) * NS_PER_MS
  return { first, last: first + NS_PER_MS - 1n }
}

/** A time as Unix ms, for a message. */
function toMs(time: unknown) {
  const read = readTime('timestamp', time)
  return typeof read === 'bigint' ? Number(read / 1_000_000n) : read
}

/** The layout of a Layout, of a dialect's name, or of a user's own fields. */
export function factsOf(given: unknown) {
  return typeof given === 'object' && given instanceof Layout ? factsOfLayout(given) : factsOfSpec(given)
}

/** The user's view of a layout: one object, which all generators share. */
export function layoutOf(facts: LayoutFacts): Layout {
  facts.layout ??= new Layout(facts as unknown as AnyLayout)
  return facts.layout as Layout
}

/** The property of `layouts` for a dialect: its layout is made on first access and cached. */
function propertyOf({ name }: Dialect): [string, PropertyDescriptor] {
  let made: Layout | undefined
  return [name, { get: () => (made ??= layoutOf(factsOf(name))), enumerable: true }]
}

/** Every named layout, with its own epoch and the default options. */
export const layouts: { readonly [Name in LayoutName]: Layout<Name> } = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.defineProperties({}, /* @__PURE__ */ Object.fromEntries(dialects.map(propertyOf))),
) as { readonly [Name in LayoutName]: Layout<Name> }
