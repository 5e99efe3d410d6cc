// Written by `npm run dist` from lib/entries/index.ts.

/// <reference types="node" />
import {
  LeasedFlakeId as LeasedFlakeId$1,
  LeasedStats,
} from "./lease.js";
import {
  Decode,
  Layout,
  layouts,
} from "./codec.js";

/** A Temporal.Instant or Temporal.ZonedDateTime, of the runtime or of a polyfill. */
type TemporalInstant = {
  readonly epochNanoseconds: bigint;
};
/**
 * A layout of your own. Write it where it is used, or as a constant with `as const satisfies LayoutSpec`, so that the types
 * know the names of its fields. After `const spec: LayoutSpec = …` they do not.
 */
interface LayoutSpec {
  /** the name in error messages; default `'custom'` */
  name?: string | undefined;
  /** Unix ms of tick 0, a Date or a Temporal.Instant; default 0 */
  epoch?: number | Date | TemporalInstant | undefined;
  /** length of a tick in ms; default 1. It must be a whole number of nanoseconds. */
  tickMs?: number | undefined;
  /**
   * Names and widths in bits (1…63), the most significant first, 64 bits in total. There must be exactly one `'timestamp'`
   * and at most one `'counter'`, which many systems call sequence. `'zero'` stands for unused bits, such as the first one of
   * 63-bit IDs. All other fields together are the node number, 53 bits at most. Names of options and of `Parts` cannot be
   * used.
   */
  fields: ReadonlyArray<readonly [name: string, bits: number]>;
  /** as in {@link LayoutSettings} */
  idOffset?: bigint | number | string | undefined;
  /** only in copies of a snowcast layout */
  nodes?: number | undefined;
  /** `'spread'` writes the bits of the timestamp in reverse order; see the option `mode` of a generator */
  mode?: 'spread' | 'sequential' | undefined;
}
interface LayoutSettings {
  /** Unix ms of tick 0, a Date or a Temporal.Instant; default: the layout's own epoch */
  epoch?: number | string | Date | TemporalInstant | null | undefined;
  /**
   * An integer from −2^63 to 2^63 − 1 that is added to every ID (Hazelcast's id-offset): a bigint, a safe integer, or decimal
   * text. If it pushes an ID out of 64 bits, that ID's time is out of range.
   */
  idOffset?: bigint | number | string | null | undefined;
}
/** The choice of a mode, which all layouts except the decimal ones (chronicle and chronicle-micros) have. */
interface ModeChoices {
  /**
   * `'spread'` writes the bits of the timestamp in reverse order, so that the IDs of consecutive ms are far apart. A database
   * that splits tables by ranges of the key then gets equally many IDs in each range. Such IDs do not sort by time, and have
   * no `range`. Default `'sequential'`; for uniqueid, whose IDs contain their mode, `'spread'`.
   */
  mode?: 'spread' | 'sequential' | null | undefined;
}
interface FlakeFields {
  /** 0…31 */
  datacenter: number;
  /** 0…31 */
  worker: number;
}
interface UniqueidFields {
  /** 0…2,047 */
  generator: number;
  /** 0…15 */
  cluster: number;
}
interface TwitterFields {
  /** 0…31 */
  datacenter: number;
  /** 0…31 */
  worker: number;
}
interface DiscordFields {
  /** 0…31 */
  worker: number;
  /** 0…31 */
  process: number;
}
/** The node fields of each named layout. Editors show these comments for options and decoded parts. */
interface NodeFields {
  flake: FlakeFields;
  hazelcast: {
    /** 0…65,535 */node: number;
  };
  snowcast: {
    /** 0…8,191, or less than `nodes` rounded up to a power of two */node: number;
  };
  uniqueid: UniqueidFields;
  chronicle: {
    /** 0…99 */host: number;
  };
  'chronicle-micros': {
    /** 0…99 */host: number;
  };
  twitter: TwitterFields;
  discord: DiscordFields;
  instagram: {
    /** 0…8,191 */shard: number;
  };
  sonyflake: {
    /** 0…65,535 */machine: number;
  };
  sonyflake2: {
    /** 0…65,535 */machine: number;
  };
  tsid: {
    /** 0…1,023 */node: number;
  };
  mastodon: Record<never, never>;
  tid: {
    /** 0…1,023 */clockid: number;
  };
  safe: {
    /** 0…63 */node: number;
  };
}
/**
 * The layouts of other systems, and `safe` for JavaScript numbers. `npx flakeforge layouts` prints this table.
 *
 * | name | epoch | tick | fields (bits) | system |
 * | --- | --- | --- | --- | --- |
 * | `flake` | 1970 | 1 ms | timestamp 42, datacenter 5, worker 5, counter 12 | flake-idgen |
 * | `hazelcast` | 2018 | 1 ms | zero 1, timestamp 41, counter 6, node 16 | Hazelcast FlakeIdGenerator |
 * | `snowcast` | 2014 | 1 ms | timestamp 41, node 13, counter 10 | snowcast; `nodes` says how many nodes |
 * | `uniqueid` | 1970 | 1 ms | timestamp 42, counter 6, generator 3, mode 1, generator 8, cluster 4 | java-uniqueid; `mode` |
 * | `chronicle` | 1970 | 100 ns | decimal: the last two digits are the host | Chronicle, Unix ns |
 * | `chronicle-micros` | 1970 | 100 µs | decimal: the last two digits are the host | Chronicle, Unix µs |
 * | `twitter` | 2010-11-04 | 1 ms | zero 1, timestamp 41, datacenter 5, worker 5, counter 12 | Twitter Snowflake |
 * | `discord` | 2015 | 1 ms | timestamp 42, worker 5, process 5, counter 12 | Discord |
 * | `instagram` | 2011-08-24 | 1 ms | timestamp 41, shard 13, counter 10 | Instagram |
 * | `sonyflake` | 2014-09-01 | 10 ms | zero 1, timestamp 39, counter 8, machine 16 | Sonyflake 1 |
 * | `sonyflake2` | 2025 | 10 ms | zero 1, timestamp 39, counter 8, machine 16 | Sonyflake 2 |
 * | `tsid` | 2020 | 1 ms | timestamp 42, node 10, counter 12 | TSID of Java and hypersistence-utils; as text in base `'base32'` |
 * | `mastodon` | 1970 | 1 ms | timestamp 48, counter 16 | Mastodon; the database creates all IDs |
 * | `tid` | 1970 | 1 µs | zero 1, timestamp 53, clockid 10 | AT Protocol (Bluesky); as text in base `'tid'` |
 * | `safe` | 2020 | 1 ms | zero 11, timestamp 41, node 6, counter 6 | 53 bits: exact as a JavaScript number |
 */
type LayoutName = keyof NodeFields;
/** The name of a layout, or the definition of your own. */
type AnyLayout = LayoutName | LayoutSpec;
/** The layout of a plain `FlakeId` that names none. */
type Unspecified = any;
/** The layout, or the default one if none was named. */
type OrFlake<L> = 0 extends 1 & L ? 'flake' : L;
/** The node fields of a layout: a union if `L` is several layouts. */
type FieldsOf<L> = L extends unknown ? FieldsOfOne<OrFlake<L>> : never;
type FieldsOfOne<L> = L extends LayoutName ? NodeFields[L] : L extends {
  readonly fields: ReadonlyArray<readonly [infer Name extends string, number]>;
} ? OwnFields<Name> : never;
/** There are no fields if the compiler does not know their names, as for a spec whose type is just `LayoutSpec`. */
type OwnFields<Name extends string> = { [K in string extends Name ? never : Exclude<Name, 'timestamp' | 'counter' | 'zero'>]: number };
type AllOf<Union> = (Union extends unknown ? (each: Union) => void : never) extends ((each: infer All) => void) ? All : never;
type AnyKeyOf<Union> = Union extends unknown ? keyof Union : never;
/** Node fields as you pass them. If `L` is several layouts, you may pass the fields of each. */
type GivenFields<L> = AllOf<AsGiven<FieldsOf<L>>>;
type AsGiven<Fields> = { [K in keyof Fields]?: number | string | null | undefined };
/** Node fields as `decode` returns them. If `L` is several layouts, fields that only some of them have are optional. */
type DecodedFields<L> = InEach<FieldsOf<L>>;
type InEach<Fields> = { [K in keyof Fields]: Fields[K] } & { [K in Exclude<AnyKeyOf<Fields>, keyof Fields>]?: number };
/** Options that only some layouts have. */
type LayoutChoices<L> = ('snowcast' extends OrFlake<L> ? SnowcastChoices : unknown) & (OrFlake<L> extends 'chronicle' | 'chronicle-micros' ? unknown : ModeChoices);
interface SnowcastChoices {
  /** snowcast: how many nodes there are, 128…8192, rounded up to a power of two; default 8192 */
  nodes?: number | string | null | undefined;
}
/** The options of a layout: {@link LayoutSettings}, snowcast's `nodes`, and `mode`, which decimal layouts lack. */
type LayoutOptions<L extends AnyLayout = AnyLayout> = LayoutSettings & LayoutChoices<L>;
/** Cancels a wait. */
interface SignalOptions {
  /**
   * Cancels the call: the promise rejects with `signal.reason` (an `AbortError` by default), and no number is taken. If the
   * signal has already aborted, the promise rejects at once.
   */
  signal?: AbortSignal | null | undefined;
}
/** Ends an iteration. */
interface IterationOptions {
  /** Ends the iteration without an error. No number is taken. */
  signal?: AbortSignal | null | undefined;
}
/** The options of `RemoteFlakeId.connect`. Integers may also be given as decimal text (`'7'`). */
interface RemoteOptions {
  /** The name that the IDs have on the servers: a group or a segment of their configuration. 1 to 128 characters. */
  name: string;
  /**
   * How many IDs to keep in memory, 1…10,000. Default 100. When half of them are used up, a request fetches more. Under load,
   * the client keeps as many as are used up within about 20 ms, up to 10,000, and returns to `prefetch` afterwards.
   */
  prefetch?: number | string | null | undefined;
  /**
   * How long fetched IDs are used before they are dropped, in ms. Default 600,000; 0 means forever. This limits the age of
   * the time in an ID.
   */
  validityMs?: number | string | null | undefined;
  /**
   * How long a server may take to answer, in ms, 1…2,147,483,647. Default 2,000. Then another server is asked. A server that
   * hangs delays calls by this time once, and again when the client next chooses that server, minutes later.
   */
  timeoutMs?: number | string | null | undefined;
  /**
   * How long a call keeps waiting while all servers fail, in ms. Default 10,000. Each call asks every server at least once, so
   * it may take longer by one `timeoutMs` per server. 0 means that each server is asked exactly once.
   */
  waitMs?: number | string | null | undefined;
  /** The bearer token of the servers. It is sent in a header, to these servers only, and appears in no error. */
  token?: string | null | undefined;
  /** Cancels `connect()`: the promise rejects with `signal.reason`. Later, the signal has no effect. */
  signal?: AbortSignal | null | undefined;
  /** The function that sends requests. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch | null | undefined;
}
/** A slot, as `list` returns it. Its holder generates IDs only within the window [lo, hi]. */
interface SlotInfo {
  /** from 0 */
  slot: number;
  /** the holder's token; absent while the slot is free */
  owner?: string;
  /** the host of the holder, or of the last one */
  host?: string;
  /** the beginning of the window: Unix ms by the store's clock */
  lo: number;
  /** the end of the window: Unix ms by the store's clock */
  hi: number;
  /** file store: the holder's process ID */
  pid?: number;
  /** file store: when the holder got the slot */
  since?: Date;
  /** file store: when the holder generated its last ID */
  last?: Date;
}
/** Why a server returned no IDs. */
interface RemoteFailure {
  /** its URL */
  server: string;
  /** what happened, as a sentence without its full stop */
  reason: string;
  /** the answer's status; undefined without an answer */
  status?: number;
  /** flakeforge's error code, if the server sent one */
  code?: string;
  /** when the server may be asked again, if it sent a Retry-After */
  retryAfterMs?: number;
}
/** A server's refusal. `group`: set if the request was for a member of it. */
type Refused = {
  server?: string;
  status?: number | undefined;
  group?: string;
};
/** The faults of unreadable files or records, and the contents of the readable ones. */
type Faults = {
  slots?: SlotInfo[];
  faults?: string[];
};
type OfSlot = {
  group: string;
  slot: number | undefined;
  cause?: unknown;
};
/** The fields of each code. The codes from ERR_FLAKE_ACCEPT on are refusals by an ID server. */
type Fields = {
  ERR_FLAKE_OPTION: {
    option?: string;
    value?: unknown;
  } & Refused;
  ERR_FLAKE_OVERFLOW: {
    retryAfterMs: number;
  } & Partial<OfSlot>;
  ERR_FLAKE_CLOCK_BACKWARDS: {
    retryAfterMs: number;
    behindMs: number;
  };
  ERR_FLAKE_TIME_RANGE: {
    timestamp: number;
  };
  ERR_FLAKE_BACKFILL: {
    group: string;
    timestamp: number;
  };
  ERR_FLAKE_ID: {
    value?: unknown;
    key?: string;
  } & Refused;
  ERR_FLAKE_CONFIG_MISMATCH: {
    theirs?: string | null | undefined;
    ours?: string | null | undefined;
    server?: string;
    other?: string | undefined;
    group?: string;
    failures?: RemoteFailure[];
    retryAfterMs?: number;
  } & Faults;
  ERR_FLAKE_FILE: {
    path: string | undefined;
    cause?: unknown;
  } & Faults;
  ERR_FLAKE_LEASE_EXPIRED: OfSlot;
  ERR_FLAKE_DETACHED: Partial<OfSlot>;
  ERR_FLAKE_DESTROYED: OfSlot;
  ERR_FLAKE_EXHAUSTED: {
    group: string;
    retryAt: Date;
    storeNow: number | undefined;
    cause?: unknown;
  };
  ERR_FLAKE_QUIET: {
    group: string;
    retryAt: Date;
    storeNow: number;
  };
  ERR_FLAKE_CLOCK_SKEW: {
    skewMs: number;
    group?: string;
  };
  ERR_FLAKE_STORE: {
    counter?: string;
    cause?: unknown;
  };
  ERR_FLAKE_RECORD: {
    group: string;
    record: string;
  } & Faults;
  ERR_FLAKE_REMOTE: {
    failures?: RemoteFailure[];
    retryAfterMs?: number;
    cause?: unknown;
  } & Refused;
  ERR_FLAKE_REPLAY: {
    failures?: RemoteFailure[];
    retryAfterMs?: number;
    cause?: unknown;
  };
  ERR_FLAKE_LOAD: {
    cause?: unknown;
  };
  ERR_FLAKE_ACCEPT: Refused;
  ERR_FLAKE_BODY: Refused;
  ERR_FLAKE_HOST: Refused;
  ERR_FLAKE_METHOD: Refused;
  ERR_FLAKE_NAME: Refused;
  ERR_FLAKE_NONCE: Refused;
  ERR_FLAKE_ORIGIN: Refused;
  ERR_FLAKE_REQUEST: Refused;
  ERR_FLAKE_ROUTE: Refused;
  ERR_FLAKE_TOKEN: Refused;
};
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
type FlakeIdOptions<L extends AnyLayout = AnyLayout> = OwnNodeOptions & GeneratorOptions & LayoutOption<L> & LayoutChoices<L> & GivenFields<L>;
/** The layout, which also determines the node fields. */
interface LayoutOption<L extends AnyLayout> {
  /** The name of a layout (default `'flake'`), a `Layout`, or the definition of your own. */
  layout?: L | Layout<L> | null | undefined;
}
/** Options of every generator, whether or not its node number is leased. */
interface GeneratorOptions extends LayoutSettings {
  /**
   * The time from which timestamps count: Unix ms, a Date or a Temporal.Instant; not in the future. Default: the layout's own
   * epoch.
   */
  epoch?: number | string | Date | TemporalInstant | null | undefined;
  /**
   * The largest counter: 1, 3, 7 … up to the maximum of the layout's field, which is the default. A smaller one allows fewer
   * IDs per tick.
   */
  seqMask?: number | string | null | undefined;
  /**
   * The counter of the first ID in a tick: 0, the default, or `'random'`: below a quarter of `seqMask + 1`. With `'random'`,
   * even a generator with few IDs spreads them evenly over that many shards (flake: 1,024) by `id % shards`. It requires a
   * layout whose counter is in the lowest bits. A tick then has room for fewer IDs, at least three quarters.
   */
  counterStart?: 0 | '0' | 'random' | null | undefined;
  /** A number that is added to the node number: Hazelcast's node-id-offset. Default 0. */
  nodeOffset?: number | string | null | undefined;
  /**
   * How far IDs may run ahead of the clock, in ms, before calls wait or throw because a counter is used up or the clock
   * stepped back; may be Infinity. Default: that of the layout's system (hazelcast and safe 15,000; chronicle, tid and tsid
   * Infinity; all others 0).
   *
   * A process that ends forgets how far ahead it was. After a restart with the same node number, generate no ID before the
   * clock has passed the last one.
   */
  maxAheadMs?: number | string | null | undefined;
  /**
   * How long a synchronous call may block before it throws, in ms. It throws at once if waiting that long cannot help.
   * Default: that of the layout's system (hazelcast, snowcast, sonyflake, sonyflake2, twitter and uniqueid 1,000, all others
   * 0).
   */
  maxWaitMs?: number | string | null | undefined;
  /**
   * Hazelcast's prefetch: numbers are claimed `count` at a time (1…100,000, default 100) and handed out for
   * `validityMs` (default 600,000; 0 means forever). `true` means the defaults; a number is the count.
   */
  prefetch?: boolean | number | {
    count?: number;
    validityMs?: number;
  } | null | undefined;
}
/** The source of the node number and the time of a generator without a lease. */
interface OwnNodeOptions {
  /**
   * The whole node number (not an ID), instead of its fields: all fields joined, the most significant first. In flake 0…1,023.
   * `'ordinal'` takes the number at the end of the host name, where a StatefulSet puts it. If neither `id` nor a node field
   * is given, the environment variable `FLAKEFORGE_ID` is read.
   */
  id?: number | string | null | undefined;
  /**
   * Returns the time, as Unix ms or as a bigint of Unix ns, instead of the system's clock: for tests and back-fills. Such a
   * generator shares no state with others, so its IDs can equal another generator's. Its epoch may be in the future.
   */
  clock?: (() => number | bigint) | null | undefined;
  /**
   * The absolute path of a file. All generators on this machine with the same file share one counter, across processes and
   * threads, so they may have the same node number. The file is created if it is missing. It remembers the last ID across
   * restarts, `kill -9` and crashes of the machine, so a clock that is set back cannot repeat an ID.
   *
   * The file must be on a local file system. Never delete, truncate or overwrite it while it is in use. The constructor waits
   * for the disk when it creates the file: call it when the program starts. `shared` and `clock` cannot be used together.
   */
  shared?: string | null | undefined;
}
/**
 * The source of IDs while there is no slot, with options of `RemoteFlakeId.connect()`. `name` is the group's name on the
 * servers; default: its own.
 *
 * Each response carries the layout of its IDs, and the random digits by which the store identifies their group. The generator
 * compares both with its own, or only the layout before the store has answered. A server of another group causes a warning at
 * the start (`FLAKEFORGE_ELSE_FROM`), and an error when its IDs are needed.
 */
interface ElseFrom extends Omit<RemoteOptions, 'name' | 'signal'> {
  urls: string | URL | ReadonlyArray<string | URL>;
  name?: string | null | undefined;
}
/**
 * The options of `FlakeId.join()`: {@link LeaseOptions}, and the options of `new FlakeId()` except `id`, `shared` and `clock`.
 *
 * Node fields given by name stay fixed, and the slot fills the others. The environment is not read. All members of a group
 * must agree on layout, epoch, fixed fields, offsets, slots, `ttlMs`, `skewMs` and `durable`.
 */
type JoinOptions<L extends AnyLayout = AnyLayout> = LeaseOptions & GeneratorOptions & LayoutOption<L> & LayoutChoices<L> & Omit<GivenFields<L>, keyof LeaseOptions>;
/** How a group shares its slots. */
interface LeaseOptions {
  /** The name of the group, whose members share its slots. Default `'default'`. */
  group?: string | null | undefined;
  /** The number of slots, at most 65,536. Default: all that the free node bits allow (flake: 1,024). */
  slots?: number | string | null | undefined;
  /**
   * How many node numbers to reserve for `nextAt()`, which generates unique IDs of past times; default 0. These are the
   * highest ones: with `backfill: 4` in the default layout, the nodes 1020 to 1023. No process may use them as its `id`. On a
   * server, this requires `durable: true`.
   */
  backfill?: number | string | null | undefined;
  /** The length of a window in ms: how long a slot stays held without a renewal. 2,000…60,000, default 30,000. */
  ttlMs?: number | string | null | undefined;
  /** How far apart the clocks of members and store may be, in ms. Default 5,000. */
  skewMs?: number | string | null | undefined;
  /**
   * Your promise that the store never loses acknowledged writes. Default false. A new group then needs no quiet period, and a
   * restart of the server stops no member. All members must agree on this option. `fileStore` ignores it.
   *
   * You can promise it for PostgreSQL, MySQL and MariaDB with their default settings, for etcd, and for a single Redis with
   * `appendfsync always` and without replicas. `join` checks the server, and refuses settings that contradict the promise with
   * `ERR_FLAKE_OPTION`. `join` cannot detect everything, such as a disk that only pretends to write.
   */
  durable?: boolean | null | undefined;
  /**
   * How long `join` and `attach` wait for a free slot or for the end of a quiet period, in ms. Default 90,000. Both return at
   * most a second later, whatever the store does.
   */
  waitMs?: number | string | null | undefined;
  /**
   * The name of this process in lists of slots. `join` tries to reuse a slot that was last held under this name. Default: the
   * environment variable `HOSTNAME`, which is the pod's name in Kubernetes, or else the name of the machine.
   */
  host?: string | null | undefined;
  /**
   * Whether calls of `join` in this thread for the same store and group return the same generator. Default false: each call
   * returns a new generator with its own slot. If true, each call needs exactly one `close()`, by hand or by `await using`;
   * the last one closes the generator. `detach()` and `destroy()` affect all callers. Two stores count as the same if they are
   * the same object or have exactly the same addresses. Different options cause `ERR_FLAKE_CONFIG_MISMATCH`. Worker threads do
   * not share: each has its own generator.
   *
   * `createGroup` ignores it.
   */
  share?: boolean | null | undefined;
  /**
   * Cancels `join` and `createGroup`: they reject with `signal.reason` (an `AbortError` by default), and release a slot that was
   * granted in the meantime. After `join` has resolved, the signal has no effect.
   */
  signal?: AbortSignal | null | undefined;
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
  elseFrom?: string | URL | ReadonlyArray<string | URL> | ElseFrom | null | undefined;
}
/** A segment counter, as `counter` and `counters` return it. */
interface CounterInfo {
  name: string;
  /** the first number that the counter has not granted yet; members may still hold lower ones */
  next: bigint;
  /** identifies the counter: 16 hex digits, which change after `skipTo`, or if the counter is created again */
  lineage: string;
  /** whether blocks may have been lost, so that the counter grants none until `skipTo` */
  isLost: boolean;
  /** whether the members promise that the store never loses acknowledged writes; absent in a folder */
  durable?: boolean;
}
/** Only flakeforge creates stores: your own objects are rejected. */
declare const madeByFlakeforge: unique symbol;
/**
 * Keeps slots and counters. `fileStore`, `redisStore`, `postgresStore`, `mysqlStore` and `etcdStore` return a store;
 * `recordStore` creates one for your own database. Pass it to `FlakeId.join`, `createGroup` and `SegmentId.open`, as often as
 * you like. A store never closes a client that you passed in.
 */
interface Store {
  readonly [madeByFlakeforge]: true;
  /**
   * Destroys a group: in a folder, every member is destroyed within 250 ms; on a server, at its next renewal, within 37 % of
   * `ttlMs`. A group of the same name that is created later continues above the last ID of this one, and on a server no slot
   * is granted for 60 s + `skewMs` (durable: `ttlMs` + `skewMs`).
   */
  destroy(group: string): Promise<void>;
  /** A counter of `SegmentId`; undefined if there is none of this name. Looking changes nothing. */
  counter(name: string): Promise<CounterInfo | undefined>;
  /** All `SegmentId` counters, by name. Redis cannot list counters, so a `redisStore` lacks this function. */
  counters?(): Promise<CounterInfo[]>;
  /**
   * Destroys a counter of `SegmentId`, if there is one. Its members hand out the numbers that they hold, then get
   * `ERR_FLAKE_DESTROYED`. The next `SegmentId.open()` with this name starts anew, at 0 or at its `init`, and so repeats
   * numbers of the old counter.
   */
  destroyCounter(name: string): Promise<void>;
  /**
   * All slots of a group that have ever been held. Listing changes nothing.
   * @throws {Error} `ERR_FLAKE_RECORD` (`group`, `record`), or `ERR_FLAKE_FILE` (`path`) from `fileStore`: some slots cannot
   * be read. The error's `slots` lists the readable ones, and its `faults` says what is wrong with each of the others.
   */
  list(group: string): Promise<SlotInfo[]>;
  /** The names of all groups. Redis cannot list groups, so a `redisStore` lacks this function. */
  groups?(): Promise<string[]>;
  /**
   * Where the records are: server, database, schema and prefix, without a password. The place is determined once and named in
   * every statement, so a session that moves elsewhere does not move the records. A `recordStore` cannot determine the place,
   * so it lacks this function.
   */
  place?(): Promise<string>;
  /**
   * Closes the connections that the store itself has opened; for a `recordStore`, it calls your `close`. Close the store's
   * generators first.
   */
  close?(): Promise<void>;
}
/** The callback of `next()`, which gets `(null, id)` or `(error)`. */
type NextCallback<Bytes> = {
  call(error: Error | null, id: Bytes): void;
}['call'];
/**
 * How an ID is written as text.
 *
 * | base | digits | length |
 * |---|---|---|
 * | `'dec'` | decimal | 1…20 |
 * | `'hex'` | hexadecimal | 1…16 |
 * | `'bin'` | binary | 64 |
 * | `'oct'` | octal | 1…22 |
 * | `'base32'` | Crockford's base 32, without I, L, O and U | 13 |
 * | `'base36'` | 0…9, a…z | 13 |
 * | `'base58'` | Bitcoin's alphabet, without 0, O, I and l | 11 |
 * | `'base62'` | 0…9, A…Z, a…z | 11 |
 * | `'tid'` | AT Protocol's base 32: 2…7, a…z | 13 |
 *
 * From base 32 on, all texts have the same length and their digits are in ASCII order, so the texts sort in the same order as
 * the IDs.
 */
type Base = 'dec' | 'hex' | 'bin' | 'oct' | 'base32' | 'base36' | 'base58' | 'base62' | 'tid';
interface PrefixOptions {
  /**
   * text before the digits: 2 to 16 characters of a–z, 0–9 and _, from a letter to a final _, such as `'ord_'`. `hex`, `bin` and `oct`
   * take any text that does not end in one of their digits, such as `'0x'`
   */
  prefix?: string | undefined;
}
/** Counts of IDs and of waits. */
interface Stats {
  /** IDs generated */
  ids: number;
  /** batches of `take` and similar calls, and of prefetch; single calls do not count */
  batches: number;
  /** attempts that found the counter used up */
  overflows: number;
  /** how often the clock stepped back */
  clockSteps: number;
  /** how many waits there were, blocking or not */
  waits: number;
  /** the total duration of all waits, in ms */
  waitedMs: number;
  /** how far the last ID is ahead of the clock at present, in ms; 0 if it is not */
  aheadMs: number;
  /** when this count began */
  since: Date;
}
/**
 * Generates 64-bit IDs that are ordered by time, and unique among generators with different node numbers.
 *
 * An ID holds the time, a node number and a counter. In the default layout, `flake`, these are 42 bits for the milliseconds
 * since the epoch, 5 bits each for datacenter and worker, and 12 bits for the counter: 4,096 IDs per millisecond. `layout`
 * selects the layout of another system, or your own. Give each process its own node number. Within a process, any number of
 * generators can share one, even across worker threads: they never generate the same ID twice.
 *
 * `L` is the name of the layout, or your own definition. It follows from the option `layout`. A plain `FlakeId`, as the type
 * of a variable or parameter, accepts a generator of any layout, but its `decode` has the fields of the default layout. For
 * the fields of another layout, write `FlakeId<'hazelcast'>`.
 *
 * @example
 * import { FlakeId } from 'flakeforge'
 * const flake = new FlakeId({ datacenter: 9, worker: 7 })
 * flake.next()       // <Buffer 68 7e 48 89 89 12 70 00>
 * flake.nextString() // '7529535382561648640'
 */
declare class FlakeId<const L extends AnyLayout = Unspecified> implements AsyncIterable<Buffer> {
  /**
   * Creates a generator that obtains its node number on its own. The generator holds a *slot* of its group, and no two
   * generators of a group hold the same slot at the same time. The promise resolves once IDs can be generated.
   *
   * @param store the store of the slots. For many machines: `'redis://…'`, `'valkey://…'`, `'postgres://…'`, `'mysql://…'`
   * (also for MariaDB) or `'etcd://…'`, whose client package you have installed (etcd needs none); or your own client in
   * `redisStore`, `postgresStore`, `mysqlStore` or `etcdStore`; or your own database in `recordStore`. For the processes of
   * one machine: `'file:DIR'`, with an absolute path. Default: the store in the environment variable `FLAKEFORGE_STORE`, or
   * else the folder `flakeforge` in `$XDG_STATE_HOME` or in `~/.local/state`.
   * @param options the group and its lease, the layout, and node fields that stay fixed
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is out of bounds or not allowed here (`id`, `shared`,
   * `clock`). Or no store is given and there is no default, because this is a container or there is no home folder. Or
   * `durable` is set, but the server's settings allow it to lose acknowledged writes.
   * @throws {Error} `ERR_FLAKE_CONFIG_MISMATCH`: the group was created with different options, on which its members must
   * agree (`theirs`, `ours`).
   * @throws {Error} `ERR_FLAKE_EXHAUSTED`: no slot becomes free within `waitMs` (`retryAt`). `join` skips a slot whose node
   * number another generator of this process uses; if no other slot is free, the `cause` says so.
   * @throws {Error} `ERR_FLAKE_QUIET`: the store is new, or may have lost grants, and `waitMs` ends before it is safe to
   * generate IDs (`retryAt`). See `createGroup`.
   * @throws {Error} `ERR_FLAKE_CLOCK_SKEW`: the clocks of this machine and of the store differ by more than `skewMs`, or the
   * window begins after the end of `waitMs` by this machine's clock.
   * @throws {Error} `ERR_FLAKE_STORE`: the store is unreachable, failed (`cause`), is unsuitable (a replica, for example), or
   * did not answer within a second after `waitMs`.
   * @throws {Error} `ERR_FLAKE_RECORD`: a record of the group cannot be read, or was written by a newer version of flakeforge
   * (`group`, `record`). Nothing was written over it.
   * @throws {Error} `ERR_FLAKE_FILE`: a file or the folder cannot be used (`path`).
   * @throws the signal's `reason`, if `signal` aborts first
   * @example
   * const flake = await FlakeId.join()
   * flake.next()
   * await flake.close() // at the end: releases the slot at once
   */
  static join<const L extends AnyLayout = 'flake'>(store?: Store | string | readonly string[] | null, options?: JoinOptions<L> | null, ...more: never[]): Promise<LeasedFlakeId$1<L>>;
  #private;
  /**
   * The parts of an ID, read with this generator's layout and epoch.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID, or not valid in this layout.
   */
  readonly decode: Decode<L>;
  /**
   * Generators with the same options share everything except the object itself, so creating one per request costs about a
   * microsecond. Generators with `clock` or `shared` share nothing.
   *
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is unknown, out of bounds, or of the wrong type. No value
   * is silently truncated: `worker: 32` is an error, not worker 0.
   */
  constructor(options?: FlakeIdOptions<L> | null);
  /**
   * One ID: 8 bytes, big-endian, in a separate ArrayBuffer. The time is read at the call. A call that throws uses up no
   * number.
   *
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: the counter of this tick is used up, and the next tick begins later than `maxWaitMs`
   * allows.
   * @throws {Error} `ERR_FLAKE_CLOCK_BACKWARDS`: the clock is behind the last ID, by more than `maxWaitMs` allows.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the clock is before the epoch or after the layout's last tick.
   */
  next(): Buffer;
  next(callback: null | undefined): Buffer;
  /**
   * One ID for a callback: `(null, id)`, always asynchronously (by `process.nextTick`) and in the order of the calls. The call
   * waits for as long as an overflow or a clock step lasts, and keeps the process alive until then. The callback gets an error
   * only if waiting does not help (`ERR_FLAKE_TIME_RANGE`), or if your own `clock` threw one.
   *
   * If the callbacks take longer than about a millisecond, for example because each calls `next` again, the rest run in the
   * next turn of the event loop, so that timers, sockets and signals get their turn.
   *
   * @throws {TypeError} `ERR_FLAKE_OPTION`: the callback is not a function. No number is taken.
   */
  next(callback: NextCallback<Buffer>): void;
  /** Like `next()`, as a bigint from 0 to 2^64 − 1: the fastest form of an ID. */
  nextBigInt(): bigint;
  /**
   * Like `next()`, as a number, for columns and APIs that support only JavaScript numbers. The number is the ID, exact to the
   * last digit: it is at most 2^53 − 1 (`Number.MAX_SAFE_INTEGER`).
   *
   * It works with every layout whose IDs stay below 2^53 for the next ten years, whatever the node: `safe`, which is designed
   * for this, `chronicle-micros`, and your own layouts with at most 53 bits or sufficiently small IDs. This depends only on
   * the layout, not on the process. Once the layout's IDs have reached 2^53, calls throw and take no number.
   *
   * @throws {RangeError} `ERR_FLAKE_OPTION`: the layout's IDs are above 2^53 − 1, or will be within ten years. The message
   * gives the date.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the IDs were below 2^53 when the generator was created, and no longer are.
   * Or as `next()`.
   * @throws otherwise as `next()`
   * @example
   * const flake = new FlakeId({ layout: 'safe', node: 3 })
   * flake.nextNumber() // 890044416000192
   */
  nextNumber(): number;
  /**
   * Like `next()`, as text: the same as `format(next(), base)`. Hex has no leading zeros:
   * `format(next(), 'hex', { padstr: '0', size: 16 })` always has 16 digits. In a database, columns of base 58 and 62 need a
   * binary collation.
   * @param base default `'dec'`
   * @param options `prefix`: the beginning of the text, as in `format`
   * @example
   * flake.nextString('base58', { prefix: 'ord_' }) // 'ord_FTQgaJCJ6rX'
   */
  nextString(base?: Base | null, options?: Readonly<PrefixOptions> | null): string;
  /**
   * Like `next(callback)`, as a promise.
   * @param options `signal`: when it aborts, the promise rejects with `signal.reason` and no number is taken.
   */
  nextAsync(options?: SignalOptions | null, ...more: never[]): Promise<Buffer>;
  /**
   * `n` IDs in order, 8 bytes each, big-endian. This takes a fiftieth of the time of `n` calls of `next()`.
   *
   * The call blocks for as long as `n` IDs need at the layout's rate (1 ms for every 4,096), and up to `maxWaitMs` longer. If
   * it throws, the numbers that it has already taken are never used.
   *
   * @param n 0 or more
   * @throws as `next()`
   */
  take(n: number): Buffer;
  /** Like `take(n)`, as bigints. */
  takeBigInts(n: number): BigUint64Array;
  /**
   * Like `take(n)`, as numbers, for the layouts that `nextNumber()` supports.
   * @throws as `nextNumber()`
   */
  takeNumbers(n: number): Float64Array;
  /**
   * Like `take(n)`, as text.
   * @param base default `'dec'`
   * @param options `prefix`: the beginning of each text, as in `format`
   */
  takeStrings(n: number, base?: Base | null, options?: Readonly<PrefixOptions> | null): string[];
  /**
   * Like `take(n)`, but waits as `next(callback)` does instead of blocking.
   * @param options `signal`: when it aborts, the promise rejects with `signal.reason`. Numbers that the call has already
   * taken are lost; it takes no more.
   */
  takeAsync(n: number, options?: SignalOptions | null, ...more: never[]): Promise<Buffer>;
  /**
   * The same iteration, with a signal: when it aborts, the loop ends without an error.
   * @example
   * for await (const id of flake.ids({ signal: AbortSignal.timeout(1000) })) await save(id)
   */
  ids(options?: IterationOptions | null, ...more: never[]): AsyncIterableIterator<Buffer>;
  /**
   * An endless series of IDs. Each step calls `nextAsync()`, and waits as that does.
   *
   * The iterator's `return()` never waits. Pending calls of its `next()` then resolve as done and take no number.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<Buffer>;
  /** 0…31; undefined if `id` was given, or if the layout has no such field */
  get datacenter(): number | undefined;
  /** 0…31; undefined if `id` was given, or if the layout has no such field */
  get worker(): number | undefined;
  /** the whole node number, `nodeOffset` included: all node fields joined; flake: `datacenter << 5 | worker`, 0…1023 */
  get id(): number;
  /** Unix ms from which timestamps count */
  get epoch(): number;
  /** the meaning of the bits, and how long they last */
  get layout(): Layout<L>;
  /**
   * Counts of this thread: of this generator and all others with the same layout, node number and options (`maxWaitMs` may
   * differ).
   */
  get stats(): Stats;
  /**
   * What console.log shows, for logs. Do not pass the result as options: its `epoch` becomes text in JSON, which no generator
   * accepts.
   */
  toJSON(): object;
}
/** The argument of listeners for a lease's events. */
interface LeaseDetail {
  group: string;
  slot?: number;
  /** the reason for `renewal-failed` and `lost`, and for `detached` unless you called `detach()` or `close()` */
  cause?: Error;
  /** for `renewal-failed`: IDs can be generated until then, or longer if a later renewal succeeds */
  expires?: Date;
}
type LeaseEvent = 'attached' | 'renewed' | 'renewal-failed' | 'lost' | 'detached' | 'destroyed';
type LeaseListener<E extends LeaseEvent | 'error'> = E extends LeaseEvent ? (detail: LeaseDetail) => void : (error: Error) => void;
/** The `code` of a flakeforge error. Its meaning never changes, but messages may. */
type FlakeErrorCode = keyof Fields;
/** A flakeforge error: an Error, TypeError or RangeError with a `code` and the fields of that code. */
type FlakeError<C extends FlakeErrorCode = FlakeErrorCode> = { [K in C]: Error & {
  code: K;
} & Fields[K] }[C];
/** The type of the class `FlakeError`. */
interface FlakeErrorClass extends Function {
  /** Only flakeforge constructs it. */
  new (nobody: never): FlakeError;
  readonly prototype: FlakeError;
  [Symbol.hasInstance](value: unknown): value is FlakeError;
}
/**
 * Every flakeforge error is an instance of `FlakeError`, as well as of TypeError, RangeError or Error, even if another copy or
 * version of flakeforge threw it.
 *
 * @example
 * try {
 *   flake.next()
 * } catch (error) {
 *   if (error instanceof FlakeError && error.code === 'ERR_FLAKE_OVERFLOW') console.log(error.retryAfterMs)
 *   else throw error
 * }
 */
declare const FlakeError: FlakeErrorClass;
/**
 * An ID as every function accepts it: 8 big-endian bytes, a bigint, text (`'123'` decimal, `'0x7b'` hex, `'0b1111011'`
 * binary), or a number.
 *
 * A number must be an integer from 0 to 2^53 − 1 (`Number.MAX_SAFE_INTEGER`), as `nextNumber()` returns. Other numbers are
 * rejected with `ERR_FLAKE_ID`: above 2^53 − 1, a number may have lost digits before the call. Read such an ID as a bigint or
 * as text.
 */
type IdLike = Uint8Array | bigint | string | number;
/**
 * The 8 bytes of an ID, big-endian, in a separate ArrayBuffer: a `Buffer` where that class exists, as in Node.js; otherwise a
 * `Uint8Array`, as in browsers.
 */
type IdBytes = typeof globalThis extends {
  Buffer: {
    prototype: infer B;
  };
} ? B : Uint8Array;
/**
 * The ID as a bigint from 0 to 2^64 − 1.
 * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID.
 */
declare function toBigInt(id: IdLike): bigint;
/**
 * The ID as a signed 64-bit column stores it: negative from 2^63 on.
 * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID.
 */
declare function toSigned(id: IdLike): bigint;
/**
 * The ID for a value from a signed 64-bit column, −2^63…2^63 − 1: a bigint, or decimal text, as PostgreSQL drivers return it.
 * @throws {TypeError} `ERR_FLAKE_ID`: the value is out of these bounds, or neither a bigint nor decimal text.
 */
declare function fromSigned(value: bigint | string): IdBytes;
/**
 * Compares two IDs by unsigned value and returns −1, 0 or 1, for `sort`, like `Buffer.compare`.
 * @throws {TypeError} `ERR_FLAKE_ID`: either value is not an ID.
 */
declare function compare(a: IdLike, b: IdLike): -1 | 0 | 1;
/**
 * The parts of an ID: those in {@link CommonParts}, and the node fields under their own names: `datacenter` and `worker` in
 * flake, `node` in hazelcast, and so on.
 *
 * `Parts` without a layout, as in `const parts: Parts = …`, has the node fields of all layouts, each optional.
 *
 * `JSON.stringify` writes `tick` as text. Node's `assert.deepStrictEqual` also compares prototypes: use `{ ...parts }` there.
 */
type Parts<L extends AnyLayout = AnyLayout> = CommonParts & DecodedFields<L>;
interface CommonParts {
  /** Unix ms; has a fraction if a tick is shorter than 1 ms */
  timestamp: number;
  /** the timestamp as a Date, in whole ms */
  date: Date;
  /** ticks since the epoch */
  tick: bigint;
  /** the counter within the tick */
  counter: number;
  /** the whole node number: all node fields joined, the most significant first */
  id: number;
  /** the mode in which the ID was generated; only in mode `'spread'`, and in uniqueid, whose IDs contain it */
  mode?: 'spread' | 'sequential';
}
/**
 * The argument of `Layout.encode`: {@link CommonPartsToEncode}, and the node fields under their own names. You may pass
 * whatever `decode` returns, or its JSON form. Contradictory parts are rejected.
 */
type PartsToEncode<L extends AnyLayout = AnyLayout> = CommonPartsToEncode & GivenFields<L>;
interface CommonPartsToEncode {
  /**
   * Unix ms, a Date, a Temporal.Instant, or Unix ns as a bigint; decimal text of Unix ms, as in CSV files. It must be within
   * `tick` if both are given. A number selects the tick for which `decode` returns this number, or else the tick that contains
   * it.
   */
  timestamp?: number | bigint | string | Date | TemporalInstant | null | undefined;
  /** a Date or Temporal.Instant, or the JSON form of a Date. It must be within `tick` and `timestamp` if they are given. */
  date?: Date | TemporalInstant | string | null | undefined;
  /** ticks since the epoch, as a bigint or as text */
  tick?: bigint | string | null | undefined;
  /** default 0 */
  counter?: number | string | null | undefined;
  /** the whole node number; it must agree with the given node fields. Default: the node number of these fields, or 0 */
  id?: number | string | null | undefined;
  /** default the layout's own mode; only uniqueid, whose IDs contain it, accepts the other one */
  mode?: 'spread' | 'sequential' | null | undefined;
}
/** Unix ms, a Date, a Temporal.Instant, or Unix ns as a bigint */
type Instant = number | bigint | Date | TemporalInstant;
/** The type of `FlakeId.decode`: takes an ID, and returns its fields and its time. */
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
declare class Layout$2<const L extends AnyLayout = AnyLayout> {
  #private;
  readonly name: string;
  /** Unix ms of tick 0 */
  readonly epoch: number;
  /** names and widths in bits, the most significant first; empty for the chronicle layouts, which are decimal */
  readonly fields: ReadonlyArray<readonly [name: string, bits: number]>;
  /**
   * Length of a tick in ms: 1 for most layouts, 10 for sonyflake, 0.0001 for chronicle. Together with the other properties it
   * forms a spec, so a Layout made from a copy (`{ ...layout }`, JSON, structuredClone) is the same layout.
   */
  readonly tickMs: number;
  /**
   * `idOffset` and `nodes` are present only if they were given; `mode` is present only if it is not the layout's default, or
   * for uniqueid if it was given
   */
  readonly idOffset?: bigint | undefined;
  readonly nodes?: number | undefined;
  readonly mode?: 'spread' | 'sequential' | undefined;
  /**
   * @param spec the name of a layout, the definition of your own, or a layout or its copy whose options you want to change
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the layout is impossible. The message names the field and the
   * reason.
   */
  constructor(spec: L | Layout$2<L>, options?: LayoutOptions<L> | null);
  /** the first instant that the layout can no longer express; flake with epoch 0: 2109-05-15 */
  get end(): Date;
  /**
   * The first instant at which some ID, whatever its node and counter, does not fit into a signed 64-bit column; flake with
   * epoch 0: 2039-09-07. If the highest bit belongs to the node or the counter, or to a reversed timestamp, this is the epoch
   * or just after it. If that bit is always 0, this is `end`.
   */
  get signedEnd(): Date;
  /** The layout's properties, with `idOffset` as text, because JSON has no bigints. */
  toJSON(): this;
  /**
   * The parts of an ID.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID, or not an ID of this layout, because a bit that must be 0 is set.
   */
  decode(id: IdLike): Parts<L>;
  /**
   * Returns the ID with these parts: the inverse of `decode`.
   * @param parts the time as `tick`, `timestamp` or `date`; `counter` (default 0); the node as `id` or by its fields (default
   * 0); `mode`
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: a part does not fit into its field, or contradicts another. To
   * change the time of `decode`'s parts, leave out the other two of `tick`, `timestamp` and `date`.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the layout cannot express the time, or a number is not Unix ms, judging by its
   * size.
   */
  encode(parts: PartsToEncode<L>): IdBytes;
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
  range(from: Instant, to?: Instant): {
    min: IdBytes;
    max: IdBytes;
  };
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
  toUuid(id: IdLike): string;
  /**
   * The ID of a UUID that `toUuid` returned. Upper case is accepted.
   * @throws {TypeError} `ERR_FLAKE_ID`: any other text or UUID: of another version or program, or of a layout that encodes
   * times differently. The message gives the reason.
   */
  fromUuid(text: string): IdBytes;
  /**
   * Chronicle layouts: the ID as a time with nine digits, `2021-12-28T14:07:02.954100128`. The last digits show the host.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID.
   */
  toText(id: IdLike): string;
  /**
   * Chronicle layouts: the ID of a text that `toText` returned, or that Chronicle wrote: trailing zeros may be missing, and
   * `Z` or an offset such as `+01:00` may follow.
   * @throws {TypeError} `ERR_FLAKE_ID`: the text does not represent an ID.
   */
  fromText(text: string): IdBytes;
}
/**
 * The text of an ID of one kind, such as `'ord_6GZJ8H64N4W00'`. It is a string, but no other string is assignable to it, nor
 * is the ID of another kind. The property exists only in the type, not at run time.
 */
type Id<Name extends string = string> = string & {
  readonly '~kind': Name;
};
/** Any generator of flakeforge in this process. */
interface IdSource {
  nextBigInt(): bigint;
}
/** The part of a `Seal` that an ID type uses. */
interface TextSeal {
  sealString(id: bigint, base?: 'base58' | 'base62' | null): string;
  openString(text: string, base?: 'base58' | 'base62' | null): Uint8Array;
}
interface IdTypeOptions<L extends AnyLayout = AnyLayout> {
  /** the beginning of the texts, as for `format`: default the name and `_`; `''` for none */
  prefix?: string | null | undefined;
  /** The name of a layout, a `Layout`, or the definition of your own: an ID that this layout cannot contain is rejected. */
  layout?: L | Layout$2<L> | null | undefined;
  /** how the ID is written after the prefix; default `'base32'`. With a seal, `'base58'` (the default) or `'base62'` */
  base?: Base | null | undefined;
  /** a `Seal` with the same prefix: the texts are those of its `sealString`, and reveal nothing without the key */
  seal?: TextSeal | null | undefined;
}
/** The JSON Schema of a text, for every draft of JSON Schema and for OpenAPI. */
interface TextSchema {
  type: 'string';
  pattern: string;
}
/** The interface that other libraries call, as defined by [Standard Schema](https://standardschema.dev). */
interface StandardProps<Output> {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => {
    readonly value: Output;
    readonly issues?: undefined;
  } | {
    readonly issues: ReadonlyArray<{
      readonly message: string;
    }>;
  };
  readonly jsonSchema: {
    readonly input: (options?: unknown) => Record<string, unknown>;
    readonly output: (options?: unknown) => Record<string, unknown>;
  };
  readonly types?: {
    readonly input: string;
    readonly output: Output;
  } | undefined;
}
/** A kind of ID. Its functions do not use `this`, so `ids.filter(Order.is)` works. */
interface IdType<Name extends string = string> {
  readonly name: Name;
  /**
   * The next ID of a generator, as text.
   * @throws {TypeError} `ERR_FLAKE_OPTION`: it is no generator. Or as its `nextBigInt()`
   */
  readonly next: (generator: IdSource) => Id<Name>;
  /**
   * The text of an ID that is given in any other form, such as a bigint from a database.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID, or not an ID of the layout.
   */
  readonly from: (id: IdLike) => Id<Name>;
  /**
   * Checks text from outside and returns it. If the base ignores case, the result has the case that `from` writes.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not text, has another prefix, is not written in the base, has more than 64 bits,
   * is not an ID of the layout, or is rejected by the seal.
   */
  readonly parse: (text: unknown) => Id<Name>;
  /** Whether a value is text exactly as `from` writes it. It never throws. */
  readonly is: (value: unknown) => value is Id<Name>;
  /**
   * The ID that a text contains, for a database.
   * @throws {TypeError} `ERR_FLAKE_ID`, as `parse`
   */
  readonly toBigInt: (text: string) => bigint;
  /**
   * The form of the texts: `{ type: 'string', pattern }`. A pattern cannot express that a number has at most 64 bits, or that
   * check characters are correct: `parse` checks these as well.
   */
  readonly jsonSchema: TextSchema;
  /**
   * [Standard Schema](https://standardschema.dev): tRPC, Hono, TanStack and others accept the object itself as a validator.
   */
  readonly '~standard': StandardProps<Id<Name>>;
}
/**
 * Creates a kind of ID: one object that generates, writes, reads and validates such IDs, which have their own type.
 *
 * @param name of the kind, and the beginning of its texts: 1 to 15 of a–z, 0–9 and _, from a letter to a letter or digit
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the name or an option is invalid, or the seal has another prefix.
 * @example
 * const Order = idType('ord')
 * type OrderId = Id<'ord'>
 * const id: OrderId = Order.next(flake)  // 'ord_6GZJ8H64N4W00'
 * Order.toBigInt(id)                     // 7529535382561648640n
 * Order.is('usr_6GZJ8H64N4W00')          // false
 */
declare function idType<const Name extends string, const L extends AnyLayout = AnyLayout>(name: Name, options?: IdTypeOptions<L> | null): IdType<Name>;
/**
 * Pass this function to `JSON.stringify` as its second argument. It writes every ID as decimal text, at any depth: bigints,
 * including negative ones; Buffers and Uint8Arrays of 8 bytes, as `next()` returns; and each element of a BigUint64Array, as
 * `takeBigInts()` returns, or of a BigInt64Array.
 *
 * Everything else is written as usual. Bigints are written as exact text even if your project gave `BigInt.prototype` a
 * `toJSON` that returns numbers.
 *
 * Called from an arrow function, `(key, value) => jsonReplacer(key, value)`, it does not see values before their `toJSON`, and
 * recognizes a Buffer by the JSON of its 8 bytes.
 *
 * @example
 * JSON.stringify({ id: 7529535382561648641n }, jsonReplacer) // '{"id":"7529535382561648641"}'
 */
declare function jsonReplacer(key: string, value: unknown): unknown;
/**
 * Returns a second argument for `JSON.parse` that turns every integer beyond 2^53, which a number cannot hold exactly, into a
 * bigint, at any depth. Everything else stays as it is, including `1e20`, `1.0` and `-0`. Use this for JSON in which IDs are
 * numbers, such as a database's.
 * @returns a function that throws a TypeError with `ERR_FLAKE_ID` for an integer of more than 1,000 digits: reading one takes
 * time that grows with the square of its length.
 * @throws {TypeError} `ERR_FLAKE_OPTION`: `JSON.parse` does not show the text of numbers on this runtime, as before Node.js
 * 21.
 * @example
 * JSON.parse('{"id":7529535382561648641,"n":5}', jsonReviver()) // { id: 7529535382561648641n, n: 5 }
 */
declare function jsonReviver(): (key: string, value: unknown, context?: {
  source?: string;
}) => unknown;
/**
 * Returns a second argument for `JSON.parse` that turns the values of these keys back into bigints, at any depth.
 *
 * | value | result |
 * |---|---|
 * | decimal text, −2^63 to 2^64 − 1, 20 digits at most | a bigint. A negative value stays negative: `fromSigned` converts it
 * into the ID |
 * | an array | an array, each element read in the same way |
 * | `null` | `null`; a missing key stays missing |
 * | a number | a bigint, if it is exact: a safe integer; from Node.js 21 on any integer of 64 bits |
 *
 * @param keys at least one key. The empty key stands for the whole text: `JSON.parse('["1","2"]', jsonReviver(['']))` reads an
 * array of IDs.
 * @returns a function that throws a TypeError with `ERR_FLAKE_ID` for any other value: text that is not decimal, more than 64
 * bits, or a number that has lost digits. The error has the `key` and the `value`.
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: `keys` is not an array, is empty, or has an element that is not text.
 * @example
 * JSON.parse('{"id":"7529535382561648641","user":{"id":null}}', jsonReviver(['id'])) // { id: 7529535382561648641n, user: { id: null } }
 */
declare function jsonReviver(keys: readonly string[]): (key: string, value: unknown, context?: {
  source?: string;
}) => unknown;
interface FormatOptions extends PrefixOptions {
  /** digits in a group, counted from the end */
  groupsize?: number | undefined;
  /** text between groups; default a space */
  delimiter?: string | undefined;
  /** pads the text at its front to `size`; repeated, and cut off if needed */
  padstr?: string | undefined;
  /** the length to pad to, prefix included; longer text stays as it is */
  size?: number | undefined;
  /** binary only: leave out leading zeros */
  trim?: boolean | undefined;
  /** byte order of the input; default `'BE'` */
  format?: 'BE' | 'LE' | undefined;
}
/** The function `format`. */
interface Format {
  /**
   * Writes up to 65,536 bytes as text. It takes the same arguments as biguint-format.
   *
   * Decimal, hex and octal text has no leading zeros. Binary text has 8 digits per byte. Text in the other bases has as many
   * digits as that number of bytes needs (13 or 11 for an ID). Text input is read as an ID, as everywhere in flakeforge:
   * `'0x50dd'` is hex and `'50'` is decimal, while biguint-format reads both as hex. `flakeforge/biguint-format` behaves like
   * that package. The input is not changed.
   *
   *
   * @param id bytes, an array of bytes, a bigint, text, or an integer from 0 to 2^53 − 1
   * @param base default `'dec'`
   * @throws {TypeError} `ERR_FLAKE_ID`: the input is not a number in one of these forms, or is too large.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an unknown base or option, or a text of more than 2^27 characters.
   * @example
   * format(id, 'hex', { prefix: '0x' })                   // '0x687e488989127000'
   * format(id, 'bin', { groupsize: 8, delimiter: '_' })   // '01101000_01111110_01001000_…'
   */
  (id: IdLike | readonly number[], base?: Base | null, options?: Readonly<FormatOptions> | null): string;
}
/**
 * The 8 bytes that a text represents: the inverse of `format(id, base)`, or of `format(id, base, { prefix })`.
 * @param base default `'dec'`. Case is ignored, even in a prefix, except in base 58, base 62 and TIDs. Text in base 36, 58 or
 * 62, and a TID, must have its full length. Binary digits may be in groups separated by spaces.
 * @param options `prefix`: the required beginning of the text
 * @throws {TypeError} `ERR_FLAKE_ID`: the text is empty, has a character that is not a digit, has more than 64 bits, or has
 * another prefix.
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an unknown base or option, or a prefix that `format` does not write.
 * @example
 * parse('ord_7529535382561648640', 'dec', { prefix: 'ord_' }) // <Buffer 68 7e 48 89 89 52 70 00>
 */
declare function parse(text: string, base?: Base | null, options?: Readonly<PrefixOptions> | null): IdBytes;
declare const confirmed: unique symbol;
/**
 * A value that a type guard has confirmed. A plain T is not assignable to this type, so the value keeps the type T where the
 * guard is false.
 */
type Confirmed<T> = T & {
  readonly [confirmed]?: never;
};
/**
 * Whether the value is an ID: true exactly if `toBigInt(value)` accepts it, or with a base, if `parse(value, base)` does. It
 * never throws.
 *
 * It is a type guard: where it is true, the value is an `IdLike`, and with a base a `string`. Where it is false, the value keeps
 * its type, because text that is not an ID is still text.
 * @param base ignored unless it is text, so that `values.filter(isId)` works although it also passes an index
 * @example
 * isId('7529535382561648641') // true
 * isId('12x')                 // false
 * isId('12x', 'base36')       // false: such text has 13 characters
 */
declare function isId(value: unknown, base: Base): value is Confirmed<string>;
declare function isId(value: unknown, base?: Base | number | null): value is Confirmed<IdLike>;
/** Writes up to 65,536 bytes as text: see {@link Format}. */
declare const format: Format;
interface SealOptions<P extends string = string> {
  /**
   * Selects a separate permutation of the same key. Use a different tweak for each table, so that a public ID of one table
   * does not open as a row of another. 0 to 256 bytes, or text, which is encoded as UTF-8; default none. A tweak need not be
   * secret.
   */
  tweak?: Uint8Array | string | null | undefined;
  /**
   * The beginning of each text, which shows what kind of ID it is: 2 to 16 characters of a–z, 0–9 and _, from a letter to a final _, such
   * as `'ord_'`. The prefix is part of the text only and does not change the encryption; use `tweak` for that.
   */
  prefix?: P | null | undefined;
  /**
   * How many check characters to append to a text: 2 or 3; default 0. Only holders of the key can compute them, so
   * `openString` rejects mistyped and guessed texts without a query: in base 58, all but one in 3,364 with 2 characters, and
   * all but one in 195,112 with 3. This is not authentication: still check access.
   */
  check?: 0 | 2 | 3 | null | undefined;
}
/**
 * Turns IDs into public IDs that reveal nothing, and back. An ID shows when and where it was generated, and the next one can
 * be guessed. A sealed ID also has 64 bits, but without the key it cannot be distinguished from a random number.
 *
 * Sealing is FF1 of NIST SP 800-38G over 64 binary digits, the most significant first, with AES, so other languages can open a
 * sealed ID. It is a permutation: the same ID always gives the same sealed ID, no two IDs give the same one, and any 64 bits
 * open as some ID. It does not authenticate: a client may have guessed a sealed ID, so still check access.
 *
 * A seal is immutable, and cannot be sent to a worker thread: create one in each thread. Construction and sealing take at most
 * a few microseconds; create one seal for each table and keep it.
 *
 * @example
 * // ID_KEY=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
 * const orders = new Seal(Buffer.from(process.env.ID_KEY, 'hex'), { tweak: 'orders' })
 * orders.sealString(7529535382561648640n) // 'NKpxe37qMLE'
 * orders.openString('NKpxe37qMLE')        // <Buffer 68 7e 48 89 89 52 70 00>
 */
declare class Seal<const P extends string = ''> {
  #private;
  /**
   * @param key 16, 24 or 32 random bytes, for AES-128, AES-192 or AES-256, such as `crypto.randomBytes(32)`. The key is
   * copied, and appears in no error and no `console.log`.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the key, the tweak or the prefix has an invalid length, form or
   * type, or an option is unknown. The error does not contain the value.
   */
  constructor(key: Uint8Array, options?: SealOptions<P> | null);
  /**
   * The public ID of an ID: 8 bytes, big-endian, in its own ArrayBuffer.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID.
   */
  seal(id: IdLike): Buffer;
  /** Like `seal(id)`, as a bigint from 0 to 2^64 − 1. */
  sealBigInt(id: IdLike): bigint;
  /**
   * Like `seal(id)`, as text, for URLs: the prefix of this seal, if it has one, and 11 characters, as `format(seal(id), base,
   * { prefix })` writes them; then any check characters. Such texts do not sort in the order of the IDs.
   * @param base default `'base58'`, which has no characters that look alike
   * @throws {RangeError} `ERR_FLAKE_OPTION`: any other base.
   */
  sealString(id: IdLike, base?: 'base58' | 'base62' | null): `${P}${string}`;
  /**
   * Seals many IDs with one native call: the result of `take(n)`, 8 bytes for each ID, or of `takeBigInts(n)`. Returns a new
   * array of the same kind, in the same order.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is neither, or not 8 bytes for each ID.
   */
  sealAll(ids: BigUint64Array): BigUint64Array;
  sealAll(ids: Uint8Array): Buffer;
  /**
   * The ID that was sealed: the inverse of `seal`. With another key or tweak the result is a different number, not an error.
   * @param sealed the result of `seal` or `sealBigInt`; text is read as decimal, hex or binary
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not a 64-bit number in one of these forms.
   */
  open(sealed: IdLike): Buffer;
  /** Like `open(sealed)`, as a bigint from 0 to 2^64 − 1. */
  openBigInt(sealed: IdLike): bigint;
  /**
   * The ID of a text that `sealString(id, base)` returned.
   * @param base default `'base58'`
   * @throws {TypeError} `ERR_FLAKE_ID`: the text has a different prefix or none, has the wrong length or check characters,
   * contains a character that is not a digit of the base, or represents more than 2^64 − 1.
   * @throws {RangeError} `ERR_FLAKE_OPTION`: any other base.
   */
  openString(text: string, base?: 'base58' | 'base62' | null): Buffer;
  /** Opens many IDs with one native call: the inverse of `sealAll`. */
  openAll(sealed: BigUint64Array): BigUint64Array;
  openAll(sealed: Uint8Array): Buffer;
}
/**
 * Creates a group that you know to be new, so that its members need not wait for a quiet period of 60 s + `skewMs`. `npx
 * flakeforge create` does the same. On a server, the call waits 1 s + `skewMs`, the quiet period of a group created this way,
 * so that no member has to. If a group of this name has just been destroyed, or the server was restarted meanwhile, the call
 * waits up to 60 s + `skewMs` and warns (`FLAKEFORGE_QUIET`).
 *
 * Creating a group is safe only if no process used it in the last minute. Never do so if the store may have lost the group:
 * its members may still be generating IDs.
 * @param options the options of `join`. Only `signal`, which ends the wait, and the options that all members must agree on
 * have an effect
 * @returns true if it created the group; false if the group already existed: then nothing was changed
 * @throws as `FlakeId.join`, except for errors about slots and waiting
 */
declare function createGroup<const L extends AnyLayout = 'flake'>(store: Store | string | readonly string[] | null | undefined, options?: JoinOptions<L> | null, ...more: never[]): Promise<boolean>;
/** The result of `FlakeId.join()`. The class itself is in flakeforge/lease. */
type LeasedFlakeId<L extends AnyLayout = any> = LeasedFlakeId$1<L>;
declare namespace FlakeId {
  export {
    AnyLayout,
    Base,
    CommonParts,
    CommonPartsToEncode,
    CounterInfo,
    Decode,
    ElseFrom,
    FlakeError,
    FlakeErrorClass,
    FlakeErrorCode,
    FlakeId,
    FlakeIdOptions,
    Format,
    FormatOptions,
    GeneratorOptions,
    Id,
    IdBytes,
    IdLike,
    IdSource,
    IdType,
    IdTypeOptions,
    IterationOptions,
    JoinOptions,
    Layout,
    LayoutName,
    LayoutOptions,
    LayoutSettings,
    LayoutSpec,
    LeaseDetail,
    LeaseEvent,
    LeaseListener,
    LeaseOptions,
    LeasedFlakeId,
    LeasedStats,
    NextCallback,
    NodeFields,
    OwnNodeOptions,
    Parts,
    PartsToEncode,
    PrefixOptions,
    Seal,
    SealOptions,
    SignalOptions,
    SlotInfo,
    StandardProps,
    Stats,
    Store,
    TextSchema,
    TextSeal,
    Unspecified,
    compare,
    createGroup,
    FlakeId as default,
    format,
    fromSigned,
    idType,
    isId,
    jsonReplacer,
    jsonReviver,
    layouts,
    parse,
    toBigInt,
    toSigned,
  }
}
export = FlakeId;
