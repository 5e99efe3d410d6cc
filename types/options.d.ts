// The options of a generator.

import { Layout, LayoutSettings } from './layout.js'
import { AnyLayout, GivenFields, LayoutChoices, NodeFields } from './node-fields.js'

/**
 * The options of `new FlakeId()`.
 *
 * Besides `layout` and those in {@link OwnNodeOptions} and {@link GeneratorOptions}, the node fields of the layout are
 * options, under their own names: `datacenter` and `worker` in flake, `node` in hazelcast, and so on (see
 * {@link NodeFields}). A node field that is left out comes from the environment variable `FLAKEFORGE_` and its name in
 * capitals (`FLAKEFORGE_WORKER`), else it is 0. snowcast also takes `nodes`, and uniqueid `mode`.
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

/** What the layout is, and so which node fields there are. */
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
  /** added to the node number (Hazelcast's node-id-offset) */
  nodeOffset?: number | string | null | undefined
  /**
   * How many ms IDs may run ahead of the clock before a full counter or a clock step counts as such; may be Infinity.
   * Default: what the layout's system does (hazelcast 15 000, chronicle Infinity, all others 0).
   *
   * A process that ends forgets how far it was ahead. After a restart with the same node number, make no ID before the
   * clock has passed the last one.
   */
  maxAheadMs?: number | string | null | undefined
  /**
   * How many ms a synchronous call may block before it throws. It throws at once if waiting that long cannot help.
   * Default: what the layout's system does (hazelcast, snowcast and uniqueid 1 000, all others 0).
   */
  maxWaitMs?: number | string | null | undefined
  /**
   * Hazelcast's prefetch: numbers are claimed `count` at a time (1…100 000, default 100) and handed out for `validityMs`
   * (default 600 000; 0 means forever). `true` takes the defaults, a number is the count.
   */
  prefetch?: boolean | number | { count?: number; validityMs?: number } | null | undefined
}

/** Where a generator that is not leased has its numbers from. */
export interface OwnNodeOptions {
  /**
   * The whole node number, instead of its fields: all fields joined, the most significant first; flake: 0…1023.
   * `'ordinal'` takes the number at the end of the host name, as a StatefulSet sets it. If neither `id` nor a node field
   * is given, the environment variable `FLAKEFORGE_ID` is read.
   */
  id?: number | string | null | undefined
  /**
   * Returns the time, as Unix ms or as a bigint of Unix ns, instead of the system's clock: for tests and back-fills. Such a
   * generator shares its numbers with no other, so its IDs can equal another generator's. Its epoch may be in the future.
   */
  clock?: (() => number | bigint) | null | undefined
  /**
   * The path of a file. All generators on this machine that name the same file share one cursor, over processes and
   * threads, so they may have the same node number. The file is created where it is missing. It remembers the last ID over
   * restarts, `kill -9` and crashes of the machine, so a clock that is set back cannot repeat an ID.
   *
   * The file must be on a local file system. Never delete, truncate or overwrite it while it is in use. `shared` and
   * `clock` cannot be used together.
   */
  shared?: string | null | undefined
}

/** How to stop waiting. */
export interface SignalOptions {
  /**
   * When it aborts, the promise rejects with `signal.reason` (an `AbortError` by default), and no number is taken. A signal
   * that is aborted already makes it reject at once.
   */
  signal?: AbortSignal | null | undefined
}

export interface IterationOptions {
  /** When it aborts, the iteration ends without an error, and no number is taken. */
  signal?: AbortSignal | null | undefined
}

/** Counts of what was made and waited for. */
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
  /** how many ms the waits took together */
  waitedMs: number
  /** how many ms the last ID is ahead of the clock now; 0 when it is not */
  aheadMs: number
  /** since when all this is counted */
  since: Date
}
