// Derives a layout's node fields from its name or its spec. So `{ wroker: 1 }` does not compile, and `decode(id).worker` is a
// number. Users see LayoutName and AnyLayout; the rest is for this room. `npm run codec:table` writes the part about the
// dialects.

import type { LayoutSettings, LayoutSpec, ModeChoices } from './spec.ts'

// written by `npm run codec:table`

interface FlakeFields {
  /** 0…31 */
  datacenter: number
  /** 0…31 */
  worker: number
}

interface UniqueidFields {
  /** 0…2,047 */
  generator: number
  /** 0…15 */
  cluster: number
}

interface TwitterFields {
  /** 0…31 */
  datacenter: number
  /** 0…31 */
  worker: number
}

interface DiscordFields {
  /** 0…31 */
  worker: number
  /** 0…31 */
  process: number
}

/** The node fields of each named layout. Editors show these comments for options and decoded parts. */
export interface NodeFields {
  flake: FlakeFields
  hazelcast: {
    /** 0…65,535 */
    node: number
  }
  snowcast: {
    /** 0…8,191, or less than `nodes` rounded up to a power of two */
    node: number
  }
  uniqueid: UniqueidFields
  chronicle: {
    /** 0…99 */
    host: number
  }
  'chronicle-micros': {
    /** 0…99 */
    host: number
  }
  twitter: TwitterFields
  discord: DiscordFields
  instagram: {
    /** 0…8,191 */
    shard: number
  }
  sonyflake: {
    /** 0…65,535 */
    machine: number
  }
  sonyflake2: {
    /** 0…65,535 */
    machine: number
  }
  tsid: {
    /** 0…1,023 */
    node: number
  }
  mastodon: Record<never, never>
  tid: {
    /** 0…1,023 */
    clockid: number
  }
  safe: {
    /** 0…63 */
    node: number
  }
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
export type LayoutName = keyof NodeFields

// the end of what it writes

/** The name of a layout, or the definition of your own. */
export type AnyLayout = LayoutName | LayoutSpec

// `any`: only then does a plain `FlakeId` accept a generator of every layout, while `new FlakeId({ wroker: 1 })` still does not
// compile.
/** The layout of a plain `FlakeId` that names none. */
export type Unspecified = any

/** The layout, or the default one if none was named. */
type OrFlake<L> = 0 extends 1 & L ? 'flake' : L

/** The node fields of a layout: a union if `L` is several layouts. */
type FieldsOf<L> = L extends unknown ? FieldsOfOne<OrFlake<L>> : never
type FieldsOfOne<L> = L extends LayoutName
  ? NodeFields[L]
  : L extends { readonly fields: ReadonlyArray<readonly [infer Name extends string, number]> }
    ? OwnFields<Name>
    : never

/** There are no fields if the compiler does not know their names, as for a spec whose type is just `LayoutSpec`. */
type OwnFields<Name extends string> = {
  [K in string extends Name ? never : Exclude<Name, 'timestamp' | 'counter' | 'zero'>]: number
}

type AllOf<Union> = (Union extends unknown ? (each: Union) => void : never) extends (each: infer All) => void
  ? All
  : never
type AnyKeyOf<Union> = Union extends unknown ? keyof Union : never

/** Node fields as you pass them. If `L` is several layouts, you may pass the fields of each. */
export type GivenFields<L> = AllOf<AsGiven<FieldsOf<L>>>
type AsGiven<Fields> = { [K in keyof Fields]?: number | string | null | undefined }

/** Node fields as `decode` returns them. If `L` is several layouts, fields that only some of them have are optional. */
export type DecodedFields<L> = InEach<FieldsOf<L>>
type InEach<Fields> = { [K in keyof Fields]: Fields[K] } & { [K in Exclude<AnyKeyOf<Fields>, keyof Fields>]?: number }

/** Options that only some layouts have. */
export type LayoutChoices<L> = ('snowcast' extends OrFlake<L> ? SnowcastChoices : unknown) &
  (OrFlake<L> extends 'chronicle' | 'chronicle-micros' ? unknown : ModeChoices)

interface SnowcastChoices {
  /** snowcast: how many nodes there are, 128…8192, rounded up to a power of two; default 8192 */
  nodes?: number | string | null | undefined
}

/** The options of a layout: {@link LayoutSettings}, snowcast's `nodes`, and `mode`, which decimal layouts lack. */
export type LayoutOptions<L extends AnyLayout = AnyLayout> = LayoutSettings & LayoutChoices<L>
