// The constructor argument of a generator: checked options, the addon's generator for them, and the lease if there is one.
// FlakeId accepts an object of this class instead of options; it is not reachable from outside lib/.

import type { Generator } from '../../src/native.d.ts'
import { type Options, unlessProblem } from '../base/check.ts'
import { unixNow } from '../base/timers.ts'
import { Interned, onceEach } from '../codec/facts.ts'
import { lookForCluster, unread } from '../layout/node-number.ts'
import * as hot from '../native/hot.ts'
import { readOptions, type Settings } from './options.ts'
import type { OtherSource } from './other-source.ts'

export type NativeGenerator = Generator

/** A generator's questions to its lease after the slot refused a call with this status. */
export interface SlotHolder {
  /** the source that supplies the ID instead; undefined if the lease has only its slot */
  after: (status: number) => OtherSource | undefined
  /** whether waiting helps */
  isComing: (status: number) => boolean
  /** what to throw; undefined if the lease does not know this status */
  error: (status: number) => unknown
}

/** No generator has this index: calls are refused with NO_GENERATOR. */
export const NO_INDEX = 2 ** 32 - 1

export class OpenedGenerator {
  #options
  native
  lease

  /** @param options undefined: the usual ones, which are made on first access */
  constructor(options: Settings | undefined, native: NativeGenerator, lease?: SlotHolder) {
    this.#options = options
    this.native = native
    this.lease = lease
  }

  get options() {
    this.#options ??= readOptions(USUAL)
    return this.#options
  }

  get clock() {
    return this.#options?.clock
  }

  /** From the options of `new FlakeId(given)`. */
  static of(given: unknown) {
    const native = given === undefined ? usual() : undefined
    if (native !== undefined) return new OpenedGenerator(undefined, native)
    const place = placeOf(given)
    const found = place?.opened?.deref()
    if (found !== undefined) return found
    const options = readOptions(given)
    const isOrdinary = options.clock === undefined && options.shared === undefined
    const opened = new OpenedGenerator(options, isOrdinary ? openOrdinary(options) : open(options))
    if (place !== undefined && isOrdinary && namesNode(given as Options, options)) place.opened = new WeakRef(opened)
    return opened
  }
}

// What new FlakeId(options) opened for plain options, a generator for each request, say: reading options takes ten times as
// long as finding it here. A place is reached by the names and values of the options, in their order. It holds nothing while
// the environment has a say in the node number, as it may change.

type Place = { opened?: WeakRef<OpenedGenerator>; more: Map<string, Map<unknown, Place>> }

const newPlace = (): Place => ({ more: new Map() })

let start = newPlace()
let places = 0
const MOST_PLACES = 10_000

/** The place of options whose values are numbers and texts; undefined for others, which may change or be inherited. */
function placeOf(given: unknown): Place | undefined {
  if (typeof given !== 'object' || given === null || Object.getPrototypeOf(given) !== Object.prototype) return
  let place = start
  let count = 0
  for (const name in given) {
    const value = (given as Options)[name]
    if (!Object.hasOwn(given, name) || (typeof value !== 'number' && typeof value !== 'string')) return
    place = place.more.get(name)?.get(value) ?? addPlace(place, name, value)
    count++
  }
  if (Object.getOwnPropertyNames(given).length === count) return place // else some are not enumerable
}

function addPlace(place: Place, name: string, value: unknown) {
  if (places++ > MOST_PLACES) {
    start = newPlace()
    places = 0
  }
  const added = newPlace()
  const ofName = place.more.get(name) ?? new Map()
  place.more.set(name, ofName.set(value, added))
  return added
}

/** Whether the options name the whole node, so that neither the environment nor the name of the host is read. */
const namesNode = (given: Options, { facts }: Settings) =>
  typeof given.id === 'number' ||
  (given.id === undefined && facts.nodeNames.length > 0 && facts.nodeNames.every((name) => given[name] !== undefined))

/** The node of `new FlakeId()` without variables in the environment. */
const USUAL = { datacenter: 0, worker: 0 }
const VARIABLES = ['FLAKEFORGE_ID', 'FLAKEFORGE_DATACENTER', 'FLAKEFORGE_WORKER']
/** Unix ms: a year before the usual IDs no longer fit a signed column. From then on a warning is due. */
const USUAL_HORIZON = 2 ** 41 - 365 * 86_400_000

let known: WeakRef<NativeGenerator> | undefined

/**
 * The addon's generator of `new FlakeId()`: reading absent options would take most of the time until the first ID. Undefined
 * if there is something to read, to warn of or to refuse, which readOptions() and open() do.
 */
function usual() {
  const { env } = process
  if (VARIABLES.some((name) => env[name] !== undefined) || unixNow() >= USUAL_HORIZON) return
  lookForCluster()
  const native = known?.deref()
  if (native !== undefined) return native
  if (unread(VARIABLES).length > 0) return
  const opened = hot.generators.open(hot.usualLayout(), USUAL_KNOBS)
  if (!('index' in opened)) return
  known = new WeakRef(withOwnIndex(opened))
  return opened
}

/** The addon's generators with a layout, by their options. */
const generatorsOf = onceEach(() => new Interned<NativeGenerator>())

/** The addon's generator for these options. Equal options share one, so that a generator for each request is cheap. */
function openOrdinary(options: Settings) {
  return generatorsOf(options.facts).get(keyOf(options), () => withOwnIndex(open(options)))
}

/** Copies its index into a property: asking the addon would take three times as long. */
const withOwnIndex = (native: NativeGenerator) => Object.defineProperty(native, 'index', { value: native.index })

/** Just the node number if the rest is as usual: a number is found faster than text. */
function keyOf({ facts, node, seqMask, counterStart, maxAheadMs, prefetch }: Settings) {
  const isUsual =
    seqMask === facts.packing.counterMax &&
    counterStart === 0 &&
    maxAheadMs === facts.maxAheadMs &&
    prefetch === undefined
  return isUsual ? node : `${node} ${seqMask} ${counterStart} ${maxAheadMs} ${prefetch?.count} ${prefetch?.validityMs}`
}

function open(options: Settings) {
  const { facts, shared, node } = options
  const [handle, knobs] = [hot.nativeLayout(facts), knobsOf(options)]
  const opened =
    shared === undefined ? hot.generators.open(handle, knobs) : hot.generators.openShared(handle, knobs, shared)
  return unlessProblem<NativeGenerator>(opened, `node ${node}`)
}

/** Options in the form that the addon takes. */
export const knobsOf = ({ node, seqMask, counterStart, maxAheadMs, prefetch, clock, group }: Settings) => ({
  node,
  seqMask,
  isStartRandom: counterStart === 'random',
  maxAheadMs,
  prefetch: prefetch?.count,
  validityMs: prefetch?.validityMs ?? 0,
  ownClock: clock !== undefined,
  group,
})

const USUAL_KNOBS = {
  node: 0,
  seqMask: 4095,
  maxAheadMs: 0,
  validityMs: 0,
  ownClock: false,
  ...{ isStartRandom: undefined, prefetch: undefined, group: undefined }, // the addon would read inherited ones
}

/** A placeholder for the addon's generator: it refuses every call with NO_GENERATOR, and counts nothing. */
export function noGenerator(): NativeGenerator {
  const sinceMs = unixNow()
  const none = { ids: 0, batches: 0, overflows: 0, clockSteps: 0, waits: 0, waitedMs: 0, aheadMs: 0, sinceMs }
  const generator = { index: NO_INDEX, stats: () => none, waited: () => {}, close: () => {} }
  return generator as unknown as NativeGenerator
}
