// The options of `FlakeId.join(store, options)`, validated here. The environment is not read: a node number there would
// contradict the slot.

import { readSignal } from '../base/abort.ts'
import { checkKeys, isAbsent, type Options, ownOf, readBounded } from '../base/check.ts'
import { optionRangeError, optionTypeError, otherNameError, unusableOptionError } from '../base/errors.ts'
import { calledHere } from '../base/other-names.ts'
import type { LayoutFacts } from '../codec/facts.ts'
import type { AnyLayout, GivenFields, LayoutChoices } from '../codec/node-fields.ts'
import type { GeneratorOptions, LayoutOption } from '../generator/options.ts'
import { GENERAL, OF_LEASE, OF_NODE, offeredOf, readKnobs, readLayout } from '../generator/options.ts'
import { nativeLayout } from '../native/hot.ts'
import index from '../native/index.ts'
import { BUDGET, roundedUp } from '../stores/time-budget.ts'
import { readName, readSwitch } from './common-options.ts'
import type { ElseFrom } from './else-from/options.ts'
import { readElseFrom } from './else-from/options.ts'
import { slotNodes } from './slot-nodes.ts'

/**
 * The options of `FlakeId.join()`: {@link LeaseOptions}, and the options of `new FlakeId()` except `id`, `shared` and `clock`.
 *
 * Node fields given by name stay fixed, and the slot fills the others. The environment is not read. All members of a group
 * must agree on layout, epoch, fixed fields, offsets, slots, `ttlMs`, `skewMs` and `durable`.
 */
export type JoinOptions<L extends AnyLayout = AnyLayout> = LeaseOptions &
  GeneratorOptions &
  LayoutOption<L> &
  LayoutChoices<L> &
  Omit<GivenFields<L>, keyof LeaseOptions>

/** How a group shares its slots. */
export interface LeaseOptions {
  /** The name of the group, whose members share its slots. Default `'default'`. */
  group?: string | null | undefined
  /** The number of slots, at most 65,536. Default: all that the free node bits allow (flake: 1,024). */
  slots?: number | string | null | undefined
  /**
   * How many node numbers to reserve for `nextAt()`, which generates unique IDs of past times; default 0. These are the
   * highest ones: with `backfill: 4` in the default layout, the nodes 1020 to 1023. No process may use them as its `id`. On a
   * server, this requires `durable: true`.
   */
  backfill?: number | string | null | undefined
  /** The length of a window in ms: how long a slot stays held without a renewal. 2,000…60,000, default 30,000. */
  ttlMs?: number | string | null | undefined
  /** How far apart the clocks of members and store may be, in ms. Default 5,000. */
  skewMs?: number | string | null | undefined
  /**
   * Your promise that the store never loses acknowledged writes. Default false. A new group then needs no quiet period, and a
   * restart of the server stops no member. All members must agree on this option. `fileStore` ignores it.
   *
   * You can promise it for PostgreSQL, MySQL and MariaDB with their default settings, for etcd, and for a single Redis with
   * `appendfsync always` and without replicas. `join` checks the server, and refuses settings that contradict the promise with
   * `ERR_FLAKE_OPTION`. `join` cannot detect everything, such as a disk that only pretends to write.
   */
  durable?: boolean | null | undefined
  /**
   * How long `join` and `attach` wait for a free slot or for the end of a quiet period, in ms. Default 90,000. Both return at
   * most a second later, whatever the store does.
   */
  waitMs?: number | string | null | undefined
  /**
   * The name of this process in lists of slots. `join` tries to reuse a slot that was last held under this name. Default: the
   * environment variable `HOSTNAME`, which is the pod's name in Kubernetes, or else the name of the machine.
   */
  host?: string | null | undefined
  /**
   * Whether calls of `join` in this thread for the same store and group return the same generator. Default false: each call
   * returns a new generator with its own slot. If true, each call needs exactly one `close()`, by hand or by `await using`;
   * the last one closes the generator. `detach()` and `destroy()` affect all callers. Two stores count as the same if they are
   * the same object or have exactly the same addresses. Different options cause `ERR_FLAKE_CONFIG_MISMATCH`. Worker threads do
   * not share: each has its own generator.
   *
   * `createGroup` ignores it.
   */
  share?: boolean | null | undefined
  /**
   * Cancels `join` and `createGroup`: they reject with `signal.reason` (an `AbortError` by default), and release a slot that was
   * granted in the meantime. After `join` has resolved, the signal has no effect.
   */
  signal?: AbortSignal | null | undefined
  /**
   * URLs of flakeforge-server, the source of IDs while there is no slot: none is free within `waitMs`, the store is
   * unreachable, a quiet period lasts too long, or the window ended without a renewal. `join` and `attach` then still
   * resolve, `state` describes the slot, and `source` is `'server'`. The search for a slot continues, and the first one found
   * is used.
   *
   * The servers must serve this group, on this store. A response with another layout is rejected with
   * `ERR_FLAKE_CONFIG_MISMATCH`. So is a server whose slots are on another store, as far as that can be detected: see {@link
   * ElseFrom}. If neither a slot nor a server supplies IDs, a single error gives the store's reason (`cause`) and each
   * server's (`failures`): `ERR_FLAKE_REMOTE`, or the code with which a server refused.
   *
   * `createGroup` ignores it.
   * @example
   * const flake = await FlakeId.join('redis://localhost', {
   *   group: 'orders',
   *   waitMs: 5_000,
   *   elseFrom: ['http://ids-1:8080', 'http://ids-2:8080'],
   * })
   * flake.source // 'slot', or 'server' if none was free within 5 s
   */
  elseFrom?: string | URL | ReadonlyArray<string | URL> | ElseFrom | null | undefined
}

const os = process.getBuiltinModule('node:os')

const { LONGEST_TTL_MS } = index

/** The options of a join() or createGroup(), checked. */
export type JoinSettings = ReturnType<typeof readJoinOptions>

/** Why a leased generator refuses these options of an ordinary one. */
const NOT_WITH_JOIN: Record<string, string> = {
  id: 'the slot determines the node number',
  shared: 'the store already coordinates processes',
  clock: "a slot's window is in the system's time",
}

/**
 * A checked copy of the generator's options, and of the lease's as `group`, `config`, `waitMs` and `host`; `fixed` and
 * `nodeOffset` determine the node numbers of its slots.
 */
export function readJoinOptions(given: unknown) {
  if (typeof given !== 'object' && given !== undefined) {
    throw optionTypeError('options', given, "an object such as { group: 'orders' }")
  }
  const named = ownOf(given)
  for (const key of OF_NODE) {
    if (!isAbsent(named[key])) throw unusableOptionError(key, named[key], `with join(): ${NOT_WITH_JOIN[key]}`)
  }
  const facts = readLayout(named)
  const known = [...facts.nodeNames, ...GENERAL, ...OF_LEASE]
  const options = checkKeys('options', given, [...known, ...OF_NODE], (key) => {
    const meant = calledHere(key, facts.nodeNames)
    // A single field, or all of them as `id`, would leave nothing for the slot.
    const isWhole = meant === 'id' || (facts.nodeNames.length === 1 && meant === facts.nodeNames[0])
    if (isWhole) throw unusableOptionError(key, named[key], `with join(): ${NOT_WITH_JOIN.id}`)
    if (meant !== undefined && known.includes(meant)) throw otherNameError(key, named[key], meant)
    return offeredOf(known, facts)
  })
  const knobs = readKnobs(options, facts)
  const nodes = slotNodes(facts, options)
  const group = readName('group', isAbsent(options.group) ? 'default' : options.group)
  const backfill = isAbsent(options.backfill)
    ? 0
    : readBounded('backfill', options.backfill, 0, Math.min(nodes.capacity - 1, MOST_KEPT))
  const most = nodes.capacity - backfill
  const slots = isAbsent(options.slots) ? most : readBounded('slots', options.slots, 1, most)
  if (backfill > 0 && knobs.seqMask !== facts.packing.counterMax)
    throw unusableOptionError('seqMask', knobs.seqMask, 'with backfill, whose IDs use all counters of the layout')
  return {
    facts,
    ...knobs,
    clock: undefined, // all are here, because one that is not would be inherited from Object.prototype
    shared: undefined,
    nodeOf: nodes.nodeOf,
    backfill,
    kept: keptOf(backfill, nodes),
    share: readSwitch('share', options.share),
    fixed: nodes.fixed,
    nodeOffset: isAbsent(options.nodeOffset) ? undefined : options.nodeOffset,
    group,
    config: {
      fingerprint: fingerprint(facts, nodes.fixed, options.nodeOffset),
      slots,
      ...readTimes(options, knobs.maxAheadMs),
      scale: nativeLayout(facts).scale,
      durable: readSwitch('durable', options.durable),
    },
    waitMs: isAbsent(options.waitMs)
      ? BUDGET.USUAL_WAIT_MS
      : readBounded('waitMs', options.waitMs, 0, Number.MAX_SAFE_INTEGER),
    host: readHost(options.host),
    signal: readSignal(options.signal),
    elseFrom: isAbsent(options.elseFrom) ? undefined : readElseFrom(options.elseFrom, group),
  }
}

/** A store shows the records of as many slots in one read. */
const MOST_KEPT = 1024

/**
 * The numbers that would be slots without `backfill`, the highest first, and their nodes. They do not depend on how many are
 * kept, so a group that is created again with more of them repeats no ID.
 */
function keptOf(backfill: number, { capacity, nodeOf }: ReturnType<typeof slotNodes>) {
  const slots = Array.from({ length: backfill }, (_, i) => capacity - 1 - i)
  return { slots, nodes: slots.map((slot) => nodeOf(slot).node) }
}

/**
 * The settings that all members of a group must share, as text that an error can show. Slots fill the node's bits from the
 * lowest up, whatever the fields are. But next to a fixed field, or above bits that are always 0, the node of a slot depends
 * on the positions of the fields.
 */
function fingerprint(facts: LayoutFacts, fixed: Record<string, number>, nodeOffset: unknown) {
  const parts = [nativeLayout(facts).fingerprint]
  if (Object.keys(fixed).length > 0 || hasGap(facts)) {
    parts.push(`fields ${facts.fields.map(([name, bits]) => `${name} ${bits}`).join(' ')}`)
  }
  for (const [name, value] of Object.entries(fixed)) parts.push(`${name} = ${value}`)
  if (!isAbsent(nodeOffset)) parts.push(`nodeOffset ${Number(nodeOffset)}`)
  return parts.join(', ')
}

/** Whether bits that are always 0 lie below a field of the node. */
function hasGap(facts: LayoutFacts) {
  const names = facts.fields.map(([name]) => name)
  const first = names.findIndex((name) => !['timestamp', 'counter', 'zero'].includes(name))
  return first >= 0 && names.indexOf('zero', first) >= 0
}

/**
 * A window must be longer than the clocks may differ plus what IDs may run ahead, or it would end before it is used. So a
 * layout that runs ahead has a longer default.
 */
function readTimes(options: Options, maxAheadMs: number) {
  const skewMs = isAbsent(options.skewMs)
    ? BUDGET.USUAL_SKEW_MS
    : readBounded('skewMs', options.skewMs, 0, LONGEST_TTL_MS)
  const ahead = maxAheadMs === Number.POSITIVE_INFINITY ? 0 : maxAheadMs // it continues from window to window
  const least = Math.floor(((skewMs + ahead) * 3) / 2) + 1
  const ample = roundedUp(least)
  if (isAbsent(options.ttlMs) && ample <= LONGEST_TTL_MS) return { ttlMs: Math.max(BUDGET.USUAL_TTL_MS, ample), skewMs }
  const ttlMs = isAbsent(options.ttlMs)
    ? BUDGET.USUAL_TTL_MS
    : readBounded('ttlMs', options.ttlMs, BUDGET.SHORTEST_TTL_MS, LONGEST_TTL_MS)
  if (ttlMs < least) {
    throw optionRangeError(
      'ttlMs',
      ttlMs,
      `at least ${least}, because two thirds of it must exceed skewMs + maxAheadMs`,
    )
  }
  return { ttlMs, skewMs }
}

/** The name of a pod, from Kubernetes or Docker: machines from one image may all have the same host name. */
function ownHost() {
  const { HOSTNAME = '' } = process.env
  return HOSTNAME !== '' && HOSTNAME.length <= 255 ? HOSTNAME : os.hostname()
}

function readHost(host: unknown) {
  if (isAbsent(host)) return ownHost()
  const wanted = 'a name of 1 to 255 characters without NUL' // PostgreSQL cannot store NUL
  if (typeof host !== 'string') throw optionTypeError('host', host, wanted)
  if (host.length < 1 || host.length > 255 || host.includes('\0')) throw optionRangeError('host', host, wanted)
  return host
}
