// Validates the options of a generator: native code trusts the result.

import { CLOCK, checkKeys, checkPath, isAbsent, type Options, ownOf, readBounded, readDuration } from '../base/check.ts'
import * as errors from '../base/errors.ts'
import type { TemporalInstant } from '../base/objects.ts'
import { calledHere } from '../base/other-names.ts'
import { unixNow } from '../base/timers.ts'
import { checkCount } from '../calls/count.ts'
import { type LayoutFacts, usualFacts } from '../codec/facts.ts'
import type { Layout } from '../codec/layout.ts'
import { factsOf } from '../codec/layout.ts'
import type { AnyLayout, GivenFields, LayoutChoices, NodeFields } from '../codec/node-fields.ts'
import type { LayoutSettings } from '../codec/spec.ts'
import { lookAhead } from '../layout/horizon.ts'
import { readNodeNumber } from '../layout/node-number.ts'

/**
 * The options of `new FlakeId()`.
 *
 * Besides `layout`, {@link OwnNodeOptions} and {@link GeneratorOptions}, each node field of the layout is an option, under its
 * own name: `datacenter` and `worker` in flake, `node` in hazelcast, and so on (see {@link NodeFields}). A node field that is
 * left out comes from the environment variable `FLAKEFORGE_` plus its name in capitals (`FLAKEFORGE_WORKER`), or else is 0.
 * snowcast also takes `nodes`.
 *
 * Integers may also be given as decimal text (`'7'`), as in environment variables. `null` and `undefined` mean absent.
 *
 * `L` follows from `layout`. Without it, as in `const options: FlakeIdOptions = …`, the node fields of all layouts are
 * allowed.
 */
export type FlakeIdOptions<L extends AnyLayout = AnyLayout> = OwnNodeOptions &
  GeneratorOptions &
  LayoutOption<L> &
  LayoutChoices<L> &
  GivenFields<L>

/** The layout, which also determines the node fields. */
export interface LayoutOption<L extends AnyLayout> {
  /** The name of a layout (default `'flake'`), a `Layout`, or the definition of your own. */
  layout?: L | Layout<L> | null | undefined
}

/** Options of every generator, whether or not its node number is leased. */
export interface GeneratorOptions extends LayoutSettings {
  /**
   * The time from which timestamps count: Unix ms, a Date or a Temporal.Instant; not in the future. Default: the layout's own
   * epoch.
   */
  epoch?: number | string | Date | TemporalInstant | null | undefined
  /**
   * The largest counter: 1, 3, 7 … up to the maximum of the layout's field, which is the default. A smaller one allows fewer
   * IDs per tick.
   */
  seqMask?: number | string | null | undefined
  /**
   * The counter of the first ID in a tick: 0, the default, or `'random'`: below a quarter of `seqMask + 1`. With `'random'`,
   * even a generator with few IDs spreads them evenly over that many shards (flake: 1,024) by `id % shards`. It requires a
   * layout whose counter is in the lowest bits. A tick then has room for fewer IDs, at least three quarters.
   */
  counterStart?: 0 | '0' | 'random' | null | undefined
  /** A number that is added to the node number: Hazelcast's node-id-offset. Default 0. */
  nodeOffset?: number | string | null | undefined
  /**
   * How far IDs may run ahead of the clock, in ms, before calls wait or throw because a counter is used up or the clock
   * stepped back; may be Infinity. Default: that of the layout's system (hazelcast and safe 15,000; chronicle, tid and tsid
   * Infinity; all others 0).
   *
   * A process that ends forgets how far ahead it was. After a restart with the same node number, generate no ID before the
   * clock has passed the last one.
   */
  maxAheadMs?: number | string | null | undefined
  /**
   * How long a synchronous call may block before it throws, in ms. It throws at once if waiting that long cannot help.
   * Default: that of the layout's system (hazelcast, snowcast, sonyflake, sonyflake2, twitter and uniqueid 1,000, all others
   * 0).
   */
  maxWaitMs?: number | string | null | undefined
  /**
   * Hazelcast's prefetch: numbers are claimed `count` at a time (1…100,000, default 100) and handed out for
   * `validityMs` (default 600,000; 0 means forever). `true` means the defaults; a number is the count.
   */
  prefetch?: boolean | number | { count?: number; validityMs?: number } | null | undefined
}

/** The source of the node number and the time of a generator without a lease. */
export interface OwnNodeOptions {
  /**
   * The whole node number (not an ID), instead of its fields: all fields joined, the most significant first. In flake 0…1,023.
   * `'ordinal'` takes the number at the end of the host name, where a StatefulSet puts it. If neither `id` nor a node field
   * is given, the environment variable `FLAKEFORGE_ID` is read.
   */
  id?: number | string | null | undefined
  /**
   * Returns the time, as Unix ms or as a bigint of Unix ns, instead of the system's clock: for tests and back-fills. Such a
   * generator shares no state with others, so its IDs can equal another generator's. Its epoch may be in the future.
   */
  clock?: (() => number | bigint) | null | undefined
  /**
   * The absolute path of a file. All generators on this machine with the same file share one counter, across processes and
   * threads, so they may have the same node number. The file is created if it is missing. It remembers the last ID across
   * restarts, `kill -9` and crashes of the machine, so a clock that is set back cannot repeat an ID.
   *
   * The file must be on a local file system. Never delete, truncate or overwrite it while it is in use. The constructor waits
   * for the disk when it creates the file: call it when the program starts. `shared` and `clock` cannot be used together.
   */
  shared?: string | null | undefined
}

/** Settings for the use of ticks. */
interface Knobs {
  seqMask: number
  counterStart: 0 | 'random'
  maxAheadMs: number
  maxWaitMs: number
  prefetch: { count: number; validityMs: number } | undefined
}

/** The checked options of a generator. None is left out: it would be inherited from Object.prototype. */
export type Settings = Knobs & Node & Where & { facts: LayoutFacts }

/** `nodes`: the fields that were given by name */
export type Node = { node: number; nodes: Record<string, number> }

/** `group`: of the lease, if there is one */
export type Where = { clock: (() => unknown) | undefined; shared: string | undefined; group: string | undefined }

/** Options of every generator, whatever the source of its node number. */
export const GENERAL = [
  'epoch',
  'seqMask',
  'layout',
  'nodes',
  'mode',
  'nodeOffset',
  'idOffset',
  'counterStart',
  'maxAheadMs',
  'maxWaitMs',
  'prefetch',
]
/** Options for the numbers of an ordinary generator; a leased one gets its numbers from its slot. */
export const OF_NODE = ['id', 'shared', 'clock']

/** Options of a lease, which only join() reads. */
export const OF_LEASE = [
  'group',
  'slots',
  'backfill',
  'ttlMs',
  'skewMs',
  'durable',
  'waitMs',
  'host',
  'share',
  'signal',
  'elseFrom',
]

/** A checked copy of the options of `new FlakeId(options)`. */
export function readOptions(given: unknown): Settings {
  if (typeof given === 'string' || Array.isArray(given)) throw errors.storeToConstructorError(given)
  if (typeof given !== 'object' && given !== undefined) throw errors.optionTypeError('options', given, 'an object')
  const facts = readLayout(ownOf(given))
  const known = [...facts.nodeNames, ...GENERAL, ...OF_NODE]
  const options = checkKeys('options', given, known, (key) => {
    // `host` is also a node field of layouts
    const ofLease = ['store', ...OF_LEASE].find((name) => name !== 'host' && Object.hasOwn(Object(given), name))
    if (ofLease !== undefined) throw errors.joinOptionError(ofLease, ownOf(given as object)[ofLease])
    const meant = calledHere(key, facts.nodeNames)
    if (meant !== undefined && known.includes(meant))
      throw errors.otherNameError(key, ownOf(given as object)[key], meant)
    return offeredOf(known, facts)
  })
  const clock = readClock(options.clock)
  return {
    facts,
    ...readNodeNumber(options, facts),
    ...readKnobs(options, facts),
    clock,
    shared: readShared(options.shared, clock),
    group: undefined,
  }
}

/** The known options that make sense with this layout. */
export function offeredOf(known: readonly string[], { hasNodes, host }: LayoutFacts) {
  const isOffered = new Map([
    ['nodes', hasNodes],
    ['mode', host === undefined], // a decimal layout has no bits to reverse
  ])
  return known.filter((name) => isOffered.get(name) ?? true)
}

export function readKnobs(options: Options, facts: LayoutFacts): Knobs {
  const { packing, maxAheadMs, maxWaitMs } = facts
  const seqMask = readSeqMask(options.seqMask, packing.counterMax)
  return {
    seqMask,
    counterStart: readCounterStart(options.counterStart, seqMask, facts),
    maxAheadMs: isAbsent(options.maxAheadMs) ? maxAheadMs : readDuration('maxAheadMs', options.maxAheadMs),
    maxWaitMs: isAbsent(options.maxWaitMs) ? maxWaitMs : readDuration('maxWaitMs', options.maxWaitMs),
    prefetch: readPrefetch(options.prefetch),
  }
}

/** The facts of the layout, with the epoch and the choices that the options make. */
export function readLayout({ layout, epoch, nodes, mode, idOffset, clock }: Options) {
  const named = isAbsent(layout) ? usualFacts() : factsOf(layout)
  const chosen = named.with({ epoch, nodes, mode, idOffset })
  // A custom clock defines the present, and it is not called before the first ID.
  if (!isAbsent(clock)) return chosen
  const now = unixNow()
  if (chosen.epoch > now) {
    throw errors.optionRangeError('epoch', epoch ?? chosen.epoch, `in the past (now is ${now})`)
  }
  lookAhead(chosen, now)
  return chosen
}

function readClock(clock: unknown) {
  if (isAbsent(clock)) return undefined
  if (typeof clock !== 'function') throw errors.optionTypeError('clock', clock, CLOCK)
  return clock as () => unknown
}

/** The path of the file in which processes share a cursor. It is absolute: their working directories may differ. */
function readShared(shared: unknown, clock: unknown) {
  if (isAbsent(shared)) return undefined
  const wanted = 'the path of a file'
  if (typeof shared !== 'string') throw errors.optionTypeError('shared', shared, wanted)
  if (shared === '' || shared.includes('\0')) throw errors.optionRangeError('shared', shared, wanted)
  if (clock !== undefined)
    throw errors.unusableOptionError('clock', clock, 'together with shared: all processes share one clock')
  checkPath('shared', shared, shared)
  return process.getBuiltinModule('node:path').resolve(shared)
}

function readSeqMask(value: unknown, max: number) {
  if (isAbsent(value)) return max
  if (max === 0) throw errors.unusableOptionError('seqMask', value, 'with a layout that has no counter')
  const mask = readBounded('seqMask', value, 1, max)
  if (!Number.isInteger(Math.log2(mask + 1))) {
    throw errors.optionRangeError('seqMask', value, `one less than a power of two (1, 3, 7, … ${max})`)
  }
  return mask
}

/** Below a quarter of a tick, `seqMask` 3 and less have no counter but 0. */
function readCounterStart(value: unknown, seqMask: number, { name, fields }: LayoutFacts) {
  if (isAbsent(value) || value === 0 || value === '0') return 0
  if (value !== 'random') throw errors.optionRangeError('counterStart', value, "0 or 'random'")
  if (fields.at(-1)?.[0] !== 'counter') {
    const why = `with layout '${name}': its lowest bits are not the counter. Shard by hash(id)`
    throw errors.unusableOptionError('counterStart', value, why)
  }
  if (seqMask < 7) {
    throw errors.unusableOptionError('counterStart', value, `with seqMask ${seqMask}: it needs 7 or more`)
  }
  return value
}

const PREFETCH = { count: 100, validityMs: 600_000 } // as Hazelcast's

/** Hazelcast's prefetch: true, a count, or both numbers; undefined if absent. */
function readPrefetch(prefetch: unknown) {
  if (isAbsent(prefetch) || prefetch === false) return undefined
  if (prefetch === true) return PREFETCH
  if (typeof prefetch !== 'object') return { ...PREFETCH, count: readPrefetchCount('prefetch', prefetch) }
  const { count, validityMs } = checkKeys('prefetch', prefetch, Object.keys(PREFETCH))
  return {
    count: isAbsent(count) ? PREFETCH.count : readPrefetchCount('prefetch.count', count),
    validityMs: isAbsent(validityMs)
      ? PREFETCH.validityMs
      : readBounded('prefetch.validityMs', validityMs, 0, Number.MAX_SAFE_INTEGER / 1000),
  }
}

const readPrefetchCount = (option: string, count: unknown) => readBounded(option, count, 1, 100_000)

let most: number | undefined

/** The size of the largest batch: its bytes fill the largest Buffer. */
export function mostOfACall() {
  most ??= Math.floor(process.getBuiltinModule('node:buffer').constants.MAX_LENGTH / 8)
  return most
}

/** The size of a batch: the `n` of `take(n)`. */
export const readCount = (n: unknown) => checkCount(n, mostOfACall())
