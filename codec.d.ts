// Written by `npm run dist` from lib/entries/codec.ts.

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
type Decode<L extends AnyLayout> = (id: IdLike) => Parts<L>;
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
declare class Layout<const L extends AnyLayout = AnyLayout> {
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
  constructor(spec: L | Layout<L>, options?: LayoutOptions<L> | null);
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
/** Every named layout, with its own epoch and the default options. */
declare const layouts: { readonly [Name in LayoutName]: Layout<Name> };
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
  layout?: L | Layout<L> | null | undefined;
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
interface PrefixOptions {
  /**
   * text before the digits: 2 to 16 characters of a–z, 0–9 and _, from a letter to a final _, such as `'ord_'`. `hex`, `bin` and `oct`
   * take any text that does not end in one of their digits, such as `'0x'`
   */
  prefix?: string | undefined;
}
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
export {
  AnyLayout,
  Base,
  CommonParts,
  CommonPartsToEncode,
  Decode,
  FlakeError,
  FlakeErrorClass,
  FlakeErrorCode,
  Format,
  FormatOptions,
  Id,
  IdBytes,
  IdLike,
  IdSource,
  IdType,
  IdTypeOptions,
  Layout,
  LayoutName,
  LayoutOptions,
  LayoutSettings,
  LayoutSpec,
  NodeFields,
  Parts,
  PartsToEncode,
  PrefixOptions,
  RemoteFailure,
  StandardProps,
  TextSchema,
  TextSeal,
  compare,
  format,
  fromSigned,
  idType,
  isId,
  layouts,
  parse,
  toBigInt,
  toSigned,
};
