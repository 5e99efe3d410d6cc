// The options of a generator.

import { Layout, LayoutSettings } from './layout.js'
import { AnyLayout, GivenFields, LayoutChoices, NodeFields } from './node-fields.js'

/**
 * The options of `new FlakeId()`.
 *
 * Besides `layout` and those in {@link OwnNodeOptions} and {@link GeneratorOptions}, the node fields of the layout are
 * options, under their own names: `datacenter` and `worker` in flake, `node` in hazelcast, and so on (see
 * {@link NodeFields}). A node field that is left out comes from the environment variable `FLAKEFORGE_` plus its name
 * in capitals (`FLAKEFORGE_WORKER`), or else is 0. snowcast also takes `nodes`, and uniqueid `mode`.
 *
 * Integers may also be given as decimal text (`'7'`), as in environment variables. `null` and `undefined` mean absent.
 *
 * `L` follows from `layout`. Without it, as in `const options: FlakeIdOptions = …`, the fields of all dialects are allowed.
 */
export type FlakeIdOptions<L extends AnyLayout = AnyLayout> = OwnNodeOptions &
  GeneratorOptions &
  LayoutOption<L> &
  LayoutChoices<L> &
  GivenFields<L>

/** The layout, which also decides which node fields there are. */
export interface LayoutOption<L extends AnyLayout> {
  /** a dialect's name (default `'flake'`), a `Layout`, or the fields of your own layout */
  layout?: L | Layout<L> | null | undefined
}

/** Options of every generator, whether or not its node number is leased. */
export interface GeneratorOptions extends LayoutSettings {
  /** Unix ms from which timestamps count, or a Date; not in the future. Default: the layout's own epoch. */
  epoch?: number | string | Date | null | undefined
  /**
   * The largest counter: 1, 3, 7 … up to what the layout's field holds, which is the default. A smaller one allows fewer
   * IDs per tick.
   */
  seqMask?: number | string | null | undefined
  /** is added to the node number (Hazelcast's node-id-offset) */
  nodeOffset?: number | string | null | undefined
  /**
   * How many ms IDs may run ahead of the clock before a used-up counter or a clock step makes calls wait or throw; may
   * be Infinity. Default: what the layout's system does (hazelcast 15 000, chronicle Infinity, all others 0).
   *
   * When a process ends, nothing remembers how far ahead it was. After a restart with the same node number, make no ID
   * before the clock has passed the last one.
   */
  maxAheadMs?: number | string | null | undefined
  /**
   * How many ms a synchronous call may block before it throws. It throws at once if waiting that long cannot help.
   * Default: what the layout's system does (hazelcast, snowcast and uniqueid 1 000, all others 0).
   */
  maxWaitMs?: number | string | null | undefined
  /**
   * Hazelcast's prefetch: numbers are claimed `count` at a time (1…100 000, default 100) and handed out for
   * `validityMs` (default 600 000; 0 means forever). `true` means the defaults; a number is the count.
   */
  prefetch?: boolean | number | { count?: number; validityMs?: number } | null | undefined
}

/** Where a generator without a lease gets its node number and its time. */
export interface OwnNodeOptions {
  /**
   * The whole node number, instead of its fields: all fields joined, the most significant first; flake: 0…1023.
   * `'ordinal'` takes the number at the end of the host name, which a StatefulSet puts there. If neither `id` nor a
   * node field is given, the environment variable `FLAKEFORGE_ID` is read.
   */
  id?: number | string | null | undefined
  /**
   * Returns the time, as Unix ms or as a bigint of Unix ns, instead of the system's clock: for tests and back-fills.
   * Such a generator does not share a cursor with others, so its IDs can equal another generator's. Its epoch may be in
   * the future.
   */
  clock?: (() => number | bigint) | null | undefined
  /**
   * The absolute path of a file. All generators on this machine that name the same file share one cursor, across processes and
   * threads, so they may have the same node number. The file is created if it is missing. It remembers the last ID
   * across restarts, `kill -9` and crashes of the machine, so a clock that is set back cannot repeat an ID.
   *
   * The file must be on a local file system. Never delete, truncate or overwrite it while it is in use. `shared` and
   * `clock` cannot be used together.
   */
  shared?: string | null | undefined
}

/** How to stop waiting. */
export interface SignalOptions {
  /**
   * When it aborts, the promise rejects with `signal.reason` (an `AbortError` by default), and no number is taken. If
   * the signal has already aborted, it rejects at once.
   */
  signal?: AbortSignal | null | undefined
}

export interface IterationOptions {
  /** When it aborts, the iteration ends without an error, and no number is taken. */
  signal?: AbortSignal | null | undefined
}

/** Counts of the IDs made and of the waits. */
export interface Stats {
  /** IDs made */
  ids: number
  /** batches made by `take` and the like, and by prefetch; single calls do not count */
  batches: number
  /** attempts that found the counter used up */
  overflows: number
  /** how often the clock was seen to step back */
  clockSteps: number
  /** waits, blocking or not */
  waits: number
  /** how many ms all waits took together */
  waitedMs: number
  /** how many ms the last ID is ahead of the clock now; 0 when it is not */
  aheadMs: number
  /** when this count began */
  since: Date
}
