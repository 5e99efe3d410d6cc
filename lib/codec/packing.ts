// Where tick, counter and node are in the 64 bits of an ID, and which ticks exist: the JavaScript twin of core/src/layout.rs.
// It works on `word` and its halves of ids.ts. Callers refuse what the fields cannot hold; an ID that no generator of the
// layout could have generated has no parts.

import { FARTHEST_MS, MAX_U64 } from '../base/values.ts'
import { HIGH, half, LOW, toBytes, word } from './ids.ts'

const NS_PER_MS = 1_000_000n
export const MODES = ['spread', 'sequential'] as const // in the order of the mode bit
export type Mode = (typeof MODES)[number]
const OTHERS = ['timestamp', 'counter', 'zero', 'mode']

/** Whether a field holds a part of the node number, which is all node fields joined. */
export const isNode = (name: string) => !OTHERS.includes(name)

/** The bits of a field, in both halves of the word: a number holds 53 bits exactly, not 64. */
class Piece {
  mask
  name
  width
  shift
  unit
  scale
  high
  low

  /**
   * @param shift how many bits of the word are below
   * @param unit of a node field: how much a value of 1 adds to the node number
   */
  constructor(
    name: string,
    width: number,
    shift: number,
    unit: number,
    mask = ((1n << BigInt(width)) - 1n) << BigInt(shift),
  ) {
    this.mask = mask
    this.name = name
    this.width = width
    this.shift = shift
    this.unit = unit
    this.scale = 2 ** (32 - shift) // the weight of the higher half's lowest bit
    this.high = Number(mask >> 32n) | 0
    this.low = Number(mask & 0xffffffffn) | 0
  }

  read(high = half[HIGH], low = half[LOW]) {
    return ((high & this.high) >>> 0) * this.scale + ((low & this.low) >>> this.shift)
  }

  /** Writes the lowest bits of a value into the field, whose bits must be 0. */
  write(value: number) {
    half[HIGH] |= (value / this.scale) & this.high
    half[LOW] |= (value << this.shift) & this.low
  }

  /** Whether a bit is set. */
  isSet(high = half[HIGH], low = half[LOW]) {
    return ((high & this.high) | (low & this.low)) !== 0
  }
}

/** Swaps the bits with those this many places above. */
const swapped = (bits: number, mask: number, by: number) => ((bits >>> by) & mask) | ((bits & mask) << by)

/** 32 bits in reverse order. A loop over the masks takes five times as long. */
function mirrored(bits: number) {
  const bytes = swapped(swapped(swapped(bits, 0x55555555, 1), 0x33333333, 2), 0x0f0f0f0f, 4)
  return swapped(swapped(bytes, 0x00ff00ff, 8), 0x0000ffff, 16) >>> 0
}

/** Reverses the bits of `word`. */
function turn() {
  const low = half[LOW]
  half[LOW] = mirrored(half[HIGH])
  half[HIGH] = mirrored(low)
}

/** Divides `word` by a number below 2^21 and returns the rest. */
function divideWord(by: number) {
  const upper = Math.floor(half[HIGH] / by)
  const middle = (half[HIGH] - upper * by) * 2 ** 32 + half[LOW]
  const lower = Math.floor(middle / by)
  half[HIGH] = upper
  half[LOW] = lower
  return middle - lower * by
}

/** Whole ms and a part of one, as the nearest number that is in this ms: the last 122 ns of today's are nearer to the next. */
function inMs(ms: number, part: number) {
  const sum = ms + part
  return Math.floor(sum) > ms ? sum - Math.abs(sum) * 1.5e-16 : sum // the number below
}

/** ns as ms; whole ms are exact. `join` makes a number of whole ms and a part of one. */
function toMs(ns: bigint, join: (ms: number, part: number) => number = inMs) {
  const ms = ns / NS_PER_MS
  const rest = Number(ns - ms * NS_PER_MS)
  return rest < 0 ? join(Number(ms) - 1, (rest + 1e6) / 1e6) : join(Number(ms), rest / 1e6)
}

/** The nearest number, which may be in the next ms. */
const toNearestMs = (ns: bigint) => toMs(ns, (ms, part) => ms + part)

const MOST_IN_A_NUMBER = 2n ** 20n // ticks of 1 ns: the last times of a Date are a ms apart

const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

/** The pieces of the fields. Fields and pieces both have the most significant first. */
function piecesOf(fields: readonly (readonly [string, number])[]) {
  let shift = 0
  let unit = 1
  const pieces = [...fields].reverse().map(([name, width]) => {
    const piece = new Piece(name, width, shift, unit)
    shift += width
    if (isNode(name)) unit *= 2 ** width
    return piece
  })
  return pieces.reverse()
}

/** `unit`: how much a value of 1 adds to the node number */
export type NodeField = { name: string; max: number; unit: number }

/** The value of a field in a node number. */
export const partOf = ({ max, unit }: NodeField, node: number) => Math.floor(node / unit) % (max + 1)

/** The node fields, the most significant first. A name that occurs twice is one field. */
function nodeFieldsOf(nodes: Piece[]) {
  const fields: NodeField[] = []
  for (const { name, width, unit } of [...nodes].reverse()) {
    const known = fields.find((field) => field.name === name)
    if (known) known.max = (known.max + 1) * 2 ** width - 1
    else fields.unshift({ name, max: 2 ** width - 1, unit })
  }
  return fields
}

/** A layout, as far as bits and times are concerned. */
interface Shape {
  /** empty if it is decimal */
  fields: readonly (readonly [string, number])[]
  /** the node field of a decimal layout */
  host: string | undefined
  epoch: number
  tickNs: number
  /** undefined if the timestamp's bits are never reversed */
  mode: Mode | undefined
  /** what is added to every ID */
  idOffset: bigint | undefined
}

/** Immutable, but not frozen: with frozen objects, V8 takes 1.5 times as long to decode an ID of the layout that was created first. */
export class Packing {
  time
  counter
  zero
  first
  second
  nodeFields
  nodeMax
  counterMax
  offset
  isTimeOrdered
  epoch
  tickMs
  epochNs
  isPlain
  isNumeric
  tickMin
  tickMax
  hasTicks
  lastNumber
  mostNumber

  #nodes
  #modeBit
  #mode
  #mirrored // where the timestamp is in a word whose bits are in reverse order
  #isDecimal
  #tickNs
  #size // from the first ID of a tick to that of the next
  #isExact // whether a number holds all its times
  #perMs // how many ticks a ms has; 0 unless this is a whole number
  #bigPerMs // the same as a bigint
  #mostHigh // the higher half of the last tick
  #lowest // the IDs of tick 0
  #highest
  #lastTick

  constructor({ fields, host, epoch, tickNs, mode, idOffset = 0n }: Shape) {
    const isDecimal = host !== undefined
    const pieces = piecesOf(isDecimal ? [[host, 7]] : fields)
    const nodes = pieces.filter(({ name }) => isNode(name))
    const none = new Piece('', 0, 0, 0)
    const named = (wanted: string) => pieces.find(({ name }) => name === wanted) ?? none
    const zeros = pieces.reduce((sum, { name, mask }) => (name === 'zero' ? sum | mask : sum), 0n)
    const time = isDecimal ? new Piece('', 64, 0, 0) : named('timestamp')
    const [second = none, first = none] = [...nodes].reverse()

    this.time = time
    this.counter = named('counter')
    this.zero = new Piece('', 0, 0, 0, zeros) // all bits that must be 0
    this.first = first // the last two node fields, for plain layouts
    this.second = second
    this.#nodes = nodes
    this.#modeBit = named('mode')
    this.nodeFields = isDecimal ? [{ name: host, max: 99, unit: 1 }] : nodeFieldsOf(nodes)
    this.nodeMax = this.nodeFields.reduce((sum, { max, unit }) => sum + max * unit, 0)
    this.counterMax = 2 ** this.counter.width - 1
    this.#mode = mode
    this.#mirrored = new Piece('', time.width, 64 - time.shift - time.width, 0)
    this.offset = idOffset
    this.#isDecimal = isDecimal
    this.isTimeOrdered = mode !== MODES[0] && (isDecimal || pieces.find(({ name }) => name !== 'zero') === time)

    this.epoch = epoch
    this.tickMs = tickNs / 1e6
    this.#tickNs = BigInt(tickNs)
    this.epochNs = BigInt(epoch) * NS_PER_MS
    this.#isExact = Number.isInteger(this.tickMs) && 2 ** time.width * this.tickMs + Math.abs(epoch) <= 2 ** 53
    const isUsual = !mode && !idOffset && nodes.length === this.nodeFields.length && nodes.length < 3
    /** whether at most two node fields and the counter are in the lower half, and nothing else is unusual */
    this.isPlain = this.#isExact && isUsual && [this.counter, ...nodes].every(({ high }) => high === 0)
    /** whether `encode` needs no bigints */
    this.isNumeric = this.#isExact && !isDecimal && !idOffset
    this.#perMs = 1e6 % tickNs === 0 ? 1e6 / tickNs : 0
    this.#bigPerMs = BigInt(this.#perMs)

    // The usable ticks: there are bits for them, a Date can show them, and IDs with their offset fit.
    const size = isDecimal ? 100n : 1n << BigInt(time.shift)
    this.#size = size
    this.#lowest = this.pack(0n, 0, 0)
    this.#highest = this.pack(0n, this.counterMax, this.nodeMax)
    // Where an offset, or a decimal layout's last tick, leaves room for some nodes only, no node may use the tick. A decimal
    // ID has to fit without its offset too.
    const room = MAX_U64 - this.#highest + (idOffset < 0n ? idOffset : 0n)
    this.tickMax = smaller((1n << BigInt(time.width)) - 1n, room / size)
    this.#mostHigh = Number(this.tickMax >> 32n)
    const ofDates = (BigInt(FARTHEST_MS) * NS_PER_MS - this.epochNs) / this.#tickNs - 1n
    const last = smaller(this.tickMax, ofDates)
    this.#lastTick = last < 0n ? 0n : last
    this.tickMin = this.#lowest < 0n ? (size - 1n - this.#lowest) / size : 0n
    /** false if no ID fits, with its offset */
    this.hasTicks = this.tickMin <= last
    this.lastNumber = Number(this.#lastTick) // exact if isNumeric
    this.mostNumber = Number(this.tickMax)
  }

  /** Puts the ID of these parts into `word`, if isNumeric. */
  put(tick: number, counter: number, node: number, mode = this.#mode) {
    if (this.isPlain) return this.#putPlain(tick, counter, node)
    const isSpread = mode === MODES[0]
    half[LOW] = 0
    half[HIGH] = 0
    if (isSpread) this.#mirrored.write(tick)
    else this.time.write(tick)
    if (isSpread) turn()
    this.#putOthers(counter, node, mode)
  }

  #putPlain(tick: number, counter: number, node: number) {
    const { first, second, time } = this
    const upper = first.unit && Math.floor(node / first.unit)
    const lower = node - upper * first.unit
    const below = (counter << this.counter.shift) | (upper << first.shift) | (lower << second.shift)
    half[LOW] = ((tick << time.shift) & time.low) | below
    half[HIGH] = (tick / time.scale) & time.high
  }

  /** The ID of these parts. The offset may put it out of range. */
  pack(tick: bigint, counter: number, node: number, mode = this.#mode) {
    const isSpread = mode === MODES[0]
    word[0] = isSpread ? tick << BigInt(this.#mirrored.shift) : 0n
    if (isSpread) turn()
    this.#putOthers(counter, node, mode)
    const id = isSpread ? word[0] : tick * this.#size + word[0]
    return this.offset ? id + this.offset : id
  }

  #putOthers(counter: number, node: number, mode: Mode | undefined) {
    this.counter.write(counter)
    for (let i = 0; i < this.#nodes.length; i++) this.#nodes[i].write(node / this.#nodes[i].unit)
    if (mode) this.#modeBit.write(MODES.indexOf(mode))
  }

  /** The parts of the ID in `word`; undefined if no generator of this layout could have generated it. */
  unpack() {
    if (this.offset) {
      const plain = word[0] - this.offset
      word[0] = plain
      if (word[0] !== plain) return
    }
    if (this.zero.isSet()) return
    const mode = this.#mode && MODES[this.#modeBit.read()]
    const counter = this.counter.read()
    let node = 0
    if (this.#isDecimal) node = divideWord(100)
    else {
      for (let i = 0; i < this.#nodes.length; i++) node += this.#nodes[i].read() * this.#nodes[i].unit
      this.#readTick(mode)
    }
    const tick = word[0]
    if (half[HIGH] >= this.#mostHigh && tick > this.tickMax) return // the halves first: comparing bigints takes longer
    if (this.offset && tick < this.tickMin) return
    return { tick, timestamp: this.#startOfWord(), counter, node, mode }
  }

  /** Replaces the ID in `word` by its tick. */
  #readTick(mode: Mode | undefined) {
    const isSpread = mode === MODES[0]
    const time = isSpread ? this.#mirrored : this.time
    if (isSpread) turn()
    if (time.width > 53) {
      word[0] = BigInt.asUintN(time.width, word[0] >> BigInt(time.shift))
    } else {
      const tick = time.read()
      half[LOW] = tick
      half[HIGH] = tick * 2 ** -32
    }
  }

  /** The first instant of a tick, Unix ms; with a fraction if ticks are finer. */
  startMs(tick: bigint) {
    word[0] = tick
    return this.#startOfWord()
  }

  /** The same for the tick in `word`, which is overwritten. bigints take several times as long as numbers. */
  #startOfWord() {
    const tick = half[HIGH] * 2 ** 32 + half[LOW]
    if (this.#isExact) return this.epoch + tick * this.tickMs
    const perMs = this.#perMs
    if (perMs === 0 || Math.abs(this.epoch) + tick / perMs > 2 ** 53) return toMs(this.epochNs + word[0] * this.#tickNs)
    const rest = divideWord(perMs)
    return inMs(this.epoch + half[HIGH] * 2 ** 32 + half[LOW], rest / perMs)
  }

  /** The tick of a time, Unix ms or Unix ns as a bigint; undefined if it is out of range. */
  tickOf(time: number | bigint) {
    if (typeof time === 'number' && this.#perMs > 0) {
      const ms = time - this.epoch
      if (Number.isSafeInteger(time) && Number.isSafeInteger(ms)) return this.#usable(BigInt(ms) * this.#bigPerMs)
    }
    const ns = this.#nsOf(time)
    const tick = (ns - this.epochNs) / this.#tickNs
    if (ns >= this.epochNs) return this.#usable(tick)
  }

  #usable(tick: bigint) {
    return this.#isUsable(tick) ? tick : undefined
  }

  #nsOf(time: number | bigint) {
    return typeof time === 'bigint' ? time : this.#instantOf(time)
  }

  #isUsable(tick: bigint) {
    return tick >= this.tickMin && tick <= this.#lastTick
  }

  /**
   * The instant (Unix ns) of a time in Unix ms: the twin of `Timescale::instant_of`, which explains it. The nearest tick
   * counts, unless it starts later than the given time even as a float, or the next one starts at this very float.
   */
  #instantOf(ms: number) {
    const whole = Math.floor(ms)
    if (this.#isExact) return BigInt(whole) * NS_PER_MS
    const ns = BigInt(whole) * NS_PER_MS + BigInt(Math.round((ms - whole) * 1e6))
    const since = ns - this.epochNs + this.#tickNs / 2n
    const before = since % this.#tickNs
    const start = this.epochNs + since - (before < 0n ? before + this.#tickNs : before)
    const last = this.epochNs + this.#lastTick * this.#tickNs
    const startMs = (ms === whole ? toNearestMs : toMs)(start)
    if (ms !== whole) {
      if (start > last && toMs(last) === ms) return last // no later tick starts at the same float
      const next = start + this.#tickNs
      if (startMs < ms && next <= last && toMs(next) === ms) return next
    }
    if (startMs <= ms) return start > ns ? start : ns
    return start > ns ? ns : start - 1n
  }

  /** The tick of a Date in whole ms: one that starts in this ms, as `decode` shows it, or else the one in which the ms begins. */
  tickOfDate(ms: number) {
    if (this.#isExact) return this.tickOf(ms)
    const tick = (this.#instantOf(ms) - this.epochNs) / this.#tickNs
    const isShown = (one: bigint) => this.#isUsable(one) && Math.floor(this.startMs(one)) === ms
    const near = [tick, tick + 1n, this.#lastTick, this.tickMin]
    return near.find(isShown) ?? this.tickOf(ms)
  }

  /** Whether a time, Unix ms or Unix ns, perhaps of a Date, denotes this tick. */
  isOf(tick: bigint, time: number | bigint, isDate: boolean) {
    if (time === this.startMs(tick) || this.tickOf(time) === tick) return true
    return isDate && (Math.floor(this.startMs(tick)) === time || this.tickOfDate(time as number) === tick)
  }

  /** The first or last tick that starts at the same time as another, as a number of ms. */
  #farthest(tick: bigint, sign: 1n | -1n) {
    const ms = this.startMs(tick)
    let far = tick
    for (let step = MOST_IN_A_NUMBER; step > 0n; step /= 2n) {
      const next = far + sign * step
      if (this.#isUsable(next) && this.startMs(next) === ms) far = next
    }
    return far
  }

  /** Where a time (Unix ms, or Unix ns as a bigint) is: -1 before the first tick, 1 after the last one, 0 between them. */
  sideOf(time: number | bigint) {
    const since = this.#nsOf(time) - this.epochNs
    if (since < this.tickMin * this.#tickNs) return -1
    return since < (this.#lastTick + 1n) * this.#tickNs ? 0 : 1
  }

  /** The ticks from one time to another, cut off at the first and the last tick. */
  ticksOf(from: number | bigint, to: number | bigint) {
    const [first, last] = [this.tickOf(from) ?? this.tickMin, this.tickOf(to) ?? this.#lastTick]
    return {
      first: this.startMs(first) === from ? this.#farthest(first, -1n) : first,
      last: this.startMs(last) === to ? this.#farthest(last, 1n) : last,
    }
  }

  /** The smallest ID of one tick and the largest of another, in a layout that sorts by time. */
  range(first: bigint, last: bigint) {
    return { min: toBytes(first * this.#size + this.#lowest), max: toBytes(last * this.#size + this.#highest) }
  }

  /** The first whole Unix ms that is not before the start of a tick, as far as numbers tell them apart. */
  #ceilMs(tick: bigint) {
    return Math.ceil(toNearestMs(this.epochNs + tick * this.#tickNs))
  }

  /** The first whole Unix ms that is too late for the layout. */
  end() {
    return this.#ceilMs(this.#lastTick + 1n)
  }

  /** The first whole Unix ms at which some ID, whatever its node and counter, does not fit a signed column. */
  signedEnd() {
    const room = (MAX_U64 >> 1n) - this.#highest
    const first = room < 0n ? 0n : this.#mode === MODES[0] ? this.#firstSpread() : room / this.#size + 1n
    return this.#ceilMs(smaller(first < this.tickMin ? this.tickMin : first, this.#lastTick + 1n))
  }

  /** The first reversed tick whose lowest bit is the top bit of the ID, if it has that bit. */
  #firstSpread() {
    return this.#mirrored.shift === 0 ? 1n : this.#lastTick + 1n
  }
}

/** The fields of a layout with this number of nodes: node and counter, the second and third field, share their bits. */
export function withNodes(fields: [string, number][], nodes?: number): [string, number][] {
  if (nodes === undefined) return fields
  const [time, [node, nodeBits], [counter, counterBits]] = fields
  const bits = Math.ceil(Math.log2(nodes))
  return [time, [node, bits], [counter, nodeBits + counterBits - bits]]
}
