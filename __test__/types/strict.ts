// Options and decoded fields follow from the layout. Compiled as an ES module and as CommonJS, in each kind of project;
// not run. Every @ts-expect-error is a mistake that the types must find.

import type {
  AnyLayout,
  ElseFrom,
  FlakeErrorCode,
  FlakeIdOptions,
  JoinOptions,
  LayoutName,
  LayoutOptions,
  LayoutSpec,
  LeasedFlakeId,
  Parts,
  PartsToEncode,
} from 'flakeforge'
import FlakeId, { createGroup, FlakeError, format, Layout, layouts } from 'flakeforge'
import type { FlakeError as CodecError } from 'flakeforge/codec'
import type { SegmentId } from 'flakeforge/lease'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <T extends true>(is: T): T => is

// The first sketch of these types.

const f = new FlakeId({ worker: 1, datacenter: '2' })
const d1: number = f.decode(1n).datacenter
const h = new FlakeId({ layout: 'hazelcast', node: 4 })
const n1: number = h.decode(1n).node
const own = new FlakeId({
  layout: {
    fields: [
      ['timestamp', 41],
      ['shard', 13],
      ['counter', 10],
    ],
  },
  shard: 5,
})
const s1: number = own.decode(1n).shard
const lay = new Layout({
  fields: [
    ['timestamp', 41],
    ['region', 13],
    ['counter', 10],
  ],
})
const r1: number = lay.decode(1n).region
const viaLayout = new FlakeId({ layout: lay, region: 3 })
const r2: number = viaLayout.decode(1n).region
new FlakeId()
new FlakeId({ layout: 'snowcast', nodes: 128, node: 1 })
new FlakeId({ layout: 'uniqueid', mode: 'spread', generator: 1, cluster: 2 })
new FlakeId({ id: process.env.WORKER_ID ?? 0, epoch: new Date() })
const dyn = 'twitter' as LayoutName
new FlakeId({ layout: dyn, id: 4 })
// @ts-expect-error
new FlakeId({ wroker: 1 })
// @ts-expect-error
new FlakeId({ layout: 'hazelcast', worker: 1 })
// @ts-expect-error
new FlakeId({ worker: { a: 1 } })
// @ts-expect-error
new FlakeId({ layout: 'flake', nodes: 128 })
new FlakeId({
  layout: {
    fields: [
      ['timestamp', 41],
      ['shard', 13],
      ['counter', 10],
    ],
  },
  // @ts-expect-error
  shrad: 5,
})
// @ts-expect-error
h.decode(1n).worker
// @ts-expect-error
viaLayout.decode(1n).shard
void [d1, n1, s1, r1, r2]

// The types are exact, not `any` or `unknown`.

same<Equal<ReturnType<typeof f.decode>['worker'], number>>(true)
same<Equal<ReturnType<typeof own.decode>['shard'], number>>(true)
same<Equal<typeof viaLayout.layout, typeof lay>>(true)
same<Equal<(typeof layouts)['discord'], Layout<'discord'>>>(true)
const [mode, host]: ['spread' | 'sequential' | undefined, number] = [
  layouts.uniqueid.decode(1n).mode,
  layouts['chronicle-micros'].decode(1n).host,
]
void [mode, host]
// An option may be an environment variable that is not set, in the strictest of settings too.
new FlakeId({ datacenter: process.env.DATACENTER, worker: process.env.WORKER ?? null, clock: undefined })
format(5n, 'hex', { prefix: process.env.PREFIX })
new FlakeId(null)
new FlakeId(undefined)
new FlakeId({ layout: null, worker: '3' })
new FlakeId({ layout: undefined, datacenter: null, clock: () => 5n })
new FlakeId({ layout: layouts.hazelcast, node: 3 }).decode(1n).node
// Callbacks as @types/flake-idgen declares them, and as they are.
const asInTheTypesOfFlakeIdgen = (error: Error, id: Buffer): void => void [error.message, id.length]
new FlakeId().next(asInTheTypesOfFlakeIdgen)
new FlakeId().next((error: Error, id: Buffer) => void [error, id])
new FlakeId().next((error, id) => void [error?.message, id.readBigUInt64BE()])
new FlakeId().next(() => {})
// @ts-expect-error: an ID is a Buffer
new FlakeId().next((_error, id: string) => void id)
// A Temporal.Instant is a time wherever a Date is; an offset is any integer.
const instant = { epochNanoseconds: 1_780_000_000_000_000_000n }
layouts.flake.range(instant, new Date())
layouts.flake.encode({ timestamp: instant })
layouts.flake.encode({ date: instant })
new FlakeId({ epoch: instant, idOffset: '-5' })
new Layout('hazelcast', { epoch: instant, idOffset: 5 })
// @ts-expect-error: worker is a field of the default layout, but not of this one
new FlakeId({ layout: layouts.hazelcast, worker: 3 })
// @ts-expect-error: a choice of snowcast's
new FlakeId({ nodes: 128 })
new FlakeId({ layout: 'snowcast', nodes: 128, mode: 'spread' })
// @ts-expect-error: a layout has no such choice
new FlakeId({ layout: lay, nodes: 128 })
// @ts-expect-error: timestamp is not a node field
new FlakeId({ layout: lay, timestamp: 5 })
// @ts-expect-error: no such part
f.decode(1n).wroker
// @ts-expect-error: a part is a number
const text: string = f.decode(1n).worker
void text

// A plain FlakeId, Layout or LeasedFlakeId accepts one of any layout; one that names its layout does not.

class Orders extends FlakeId<'hazelcast'> {
  nodeOf(id: bigint): number {
    return this.decode(id).node
  }
}
class Sorted<const L extends AnyLayout> extends FlakeId<L> {
  readonly made: string[] = []
}
class Plain extends FlakeId {}
const sorted = new Sorted({ layout: 'instagram', shard: 5 })
const shard: number = sorted.decode(1n).shard
const twitter: FlakeId = new FlakeId({ layout: 'twitter' })
const mine: FlakeId = own
const plain: FlakeId[] = [f, h, own, viaLayout, twitter, new Orders({ node: 3 }), sorted, new Plain({ worker: 3 })]
const datacenterOf = (flake: FlakeId): number => flake.decode(flake.next()).datacenter
for (const flake of plain) datacenterOf(flake)
datacenterOf(h)
datacenterOf(new Orders())
const dayOf = (layout: Layout): Date => layout.decode(1n).date
for (const layout of [lay, layouts.hazelcast, layouts[dyn], h.layout, mine.layout, own.layout]) dayOf(layout)
dayOf(lay)
const layoutsByName = new Map<string, Layout>([['mine', lay]]).set('hazelcast', layouts.hazelcast)
const named: FlakeId<'hazelcast'> = h
class Service {
  constructor(
    readonly flake: FlakeId,
    readonly layout: Layout,
  ) {}
}
new Service(h, lay)
new Service(new Orders(), layouts.hazelcast)
void [shard, layoutsByName, named]
// @ts-expect-error: another layout
const otherLayout: FlakeId<'twitter'> = h
// @ts-expect-error: another layout, though of the user's own class
const otherClass: FlakeId<'twitter'> = new Orders()
// @ts-expect-error: another layout
const other: Layout<'twitter'> = layouts.hazelcast
// @ts-expect-error: no layout at all
const none: FlakeId<'twiter'> = f
// @ts-expect-error: a subclass keeps the options of its layout
new Orders({ worker: 3 })
// @ts-expect-error: a subclass of the default layout has its options
new Plain({ wroker: 3 })
void [otherLayout, otherClass, other, none]

// Layouts and options that are known only at run time.

const options: FlakeIdOptions = { layout: 'hazelcast', node: 3, worker: process.env.WORKER }
const dynamic = new FlakeId(options)
same<Equal<ReturnType<typeof dynamic.decode>['worker'], number | undefined>>(true)
const dynamicPlain: FlakeId = dynamic
new Plain(options)
new FlakeId({ ...options, prefetch: true })
new FlakeId({ layout: layouts[dyn], id: 3 })
const two = new FlakeId({ layout: dyn as 'flake' | 'discord', process: 3, datacenter: 4 }).decode(1n)
same<Equal<[typeof two.worker, typeof two.process], [number, number | undefined]>>(true)
const parts: Parts[] = [dynamic.decode(1n), h.decode(1n), lay.decode(1n), two]
const loose: LayoutSpec = {
  fields: [
    ['timestamp', 41],
    ['pod', 23],
  ],
}
const pods = {
  fields: [
    ['timestamp', 41],
    ['pod', 23],
  ],
} as const satisfies LayoutSpec
new FlakeId({ layout: loose, id: 3 }).decode(1n).timestamp
new FlakeId({ layout: new Layout(loose), id: 3 })
const pod: number = new FlakeId({ layout: pods, pod: 77 }).decode(1n).pod
interface ServiceOptions extends FlakeIdOptions {
  port: number
}
interface ServiceJoinOptions extends JoinOptions<'hazelcast'> {
  port: number
}
const ofService: ServiceOptions = { port: 80, worker: 3 }
const ofJoin: ServiceJoinOptions = { port: 80, group: 'orders', ttlMs: '5000' }
new FlakeId(ofService)
const options2: FlakeIdOptions<'hazelcast'> = { node: 3 }
const parsed: FlakeIdOptions = JSON.parse('{}')
new FlakeId(parsed)
new FlakeId(JSON.parse('{}'))
const make = <const L extends AnyLayout>(layout: L): FlakeId<L> => new FlakeId({ layout } as FlakeIdOptions<L>)
make('hazelcast').decode(1n).node
void [dynamicPlain, parts, pod, ofJoin, options2]
// @ts-expect-error: the names of its fields are not known
new FlakeId({ layout: loose, pod: 77 })
// @ts-expect-error: a misspelt option
const misspelt: FlakeIdOptions = { wroker: 3 }
// @ts-expect-error: a field of another layout
const otherField: FlakeIdOptions<'hazelcast'> = { worker: 3 }
// @ts-expect-error: no such layout
new FlakeId({ layout: 'twiter' })
void [misspelt, otherField]

// Layouts and their parts.

const encoded: Buffer[] = [
  lay.encode({ region: 3, tick: 3n }),
  lay.encode(lay.decode(1n)),
  layouts.uniqueid.encode({ timestamp: new Date(), generator: '3', mode: 'spread' }),
  mine.layout.encode({ id: 3, counter: 5, date: new Date() }),
  (lay as Layout).encode((lay as Layout).decode(1n)),
]
const sameLayout = new Layout(layouts.twitter, { epoch: 5, idOffset: 3n })
same<Equal<typeof sameLayout, Layout<'twitter'>>>(true)
const choice: LayoutOptions = { nodes: 128, mode: 'spread' }
const toEncode: PartsToEncode<'hazelcast'> = { node: 3 }
new Layout('snowcast', { nodes: 128 })
new Layout(dyn, choice)
void [encoded, toEncode]
// @ts-expect-error: a misspelt part
lay.encode({ regoin: 3 })
// @ts-expect-error: a choice of snowcast's
new Layout('flake', { nodes: 128 })
// @ts-expect-error: a misspelt choice
new Layout('flake', { epcoh: 128 })

// Leased generators.

export async function leased(): Promise<void> {
  const node: number = (await FlakeId.join('redis://localhost', { layout: 'hazelcast', group: 'g' })).decode(1n).node
  const byField = await FlakeId.join(null, { layout: pods, ttlMs: 5_000 })
  same<Equal<ReturnType<typeof byField.decode>['pod'], number>>(true)
  const fixed = await Orders.join(undefined, { datacenter: 3, signal: AbortSignal.timeout(5) })
  same<Equal<typeof fixed, LeasedFlakeId<'flake'>>>(true)
  const plainLeased: LeasedFlakeId[] = [fixed, byField, await FlakeId.join()]
  const generators: FlakeId[] = [fixed, byField]
  const joinOptions: JoinOptions = { group: 'orders', layout: 'hazelcast', host: 'a' }
  const dynamicLeased: FlakeId = await FlakeId.join('redis://localhost', joinOptions)
  await createGroup('redis://localhost', { layout: layouts.instagram, group: 'g' })
  await fixed.attach({ signal: new AbortController().signal })
  const elseFrom: ElseFrom = { urls: [new URL('http://ids-1:8080'), 'http://ids-2:8080'], token: 'a', prefetch: 10 }
  const helped = await FlakeId.join('redis://localhost', { group: 'orders', elseFrom })
  await FlakeId.join('redis://localhost', { elseFrom: ['http://ids-1:8080'] as const })
  same<Equal<typeof helped.source, 'slot' | 'server' | undefined>>(true)
  same<Equal<typeof helped.stats.fromServers, number | undefined>>(true)
  // @ts-expect-error: a misspelt option
  await FlakeId.join('redis://localhost', { elseFrom: { urls: 'http://ids-1:8080', tokn: 'a' } })
  // @ts-expect-error: join() has its own signal
  await FlakeId.join('redis://localhost', { elseFrom: { urls: 'http://ids-1:8080', signal: AbortSignal.timeout(5) } })
  void [node, plainLeased, generators, dynamicLeased]
  // @ts-expect-error: a misspelt option
  await FlakeId.join('redis://localhost', { gruop: 'orders' })
  // @ts-expect-error: a field of another layout
  await FlakeId.join('redis://localhost', { layout: 'hazelcast', worker: 3 })
  // @ts-expect-error: the slot is the node number
  await FlakeId.join('redis://localhost', { id: 3 })
  // @ts-expect-error: a leased generator has the store's numbers
  await FlakeId.join('redis://localhost', { shared: 'file' })
  // @ts-expect-error: a leased generator has the system's clock
  await FlakeId.join('redis://localhost', { clock: Date.now })
  // @ts-expect-error: options are the second argument
  await FlakeId.join({ group: 'orders' })
  // @ts-expect-error: a misspelt option
  await createGroup('redis://localhost', { gruop: 'orders' })
  // @ts-expect-error: not a signal
  await fixed.attach({ signal: 5 })
  // @ts-expect-error: no field of this layout
  byField.decode(1n).worker
}

// Signals, and text by the batch.

export async function waiting(flake: FlakeId, segment: SegmentId): Promise<void> {
  const { signal } = new AbortController()
  for (const each of [flake, segment]) {
    const id: Buffer = await each.nextAsync({ signal })
    const ids: Buffer = await each.takeAsync(3, { signal })
    const texts: string[] = [...each.takeStrings(3), ...each.takeStrings(3, 'base62')]
    for await (const next of each.ids({ signal })) same<Equal<typeof next, Buffer>>(true)
    const iterable: AsyncIterable<Buffer> = each.ids()
    void [id, ids, texts, iterable]
    // @ts-expect-error: not a signal
    await each.nextAsync({ signal: 5 })
    // @ts-expect-error: a misspelt option
    await each.takeAsync(3, { singal: signal })
    // @ts-expect-error: no such base
    each.takeStrings(3, 'base64')
    // @ts-expect-error: a count
    each.takeStrings('3')
  }
}

// Errors: each code has its own fields.

export function told(error: unknown): string {
  if (!(error instanceof FlakeError)) throw error
  const other: CodecError = error
  const [code, name]: [FlakeErrorCode, string] = [error.code, other.name]
  switch (error.code) {
    case 'ERR_FLAKE_OVERFLOW':
    case 'ERR_FLAKE_CLOCK_BACKWARDS':
      same<Equal<typeof error.retryAfterMs, number>>(true)
      return `${error.message} ${error.retryAfterMs}`
    case 'ERR_FLAKE_EXHAUSTED':
      return `${error.group} ${error.retryAt.toISOString()}`
    case 'ERR_FLAKE_LEASE_EXPIRED':
      return `${error.slot?.toFixed()} ${error.cause}`
    case 'ERR_FLAKE_REMOTE':
      return `${error.failures?.[0]?.server} ${error.server}`
    case 'ERR_FLAKE_NAME':
      return `${error.server}`
    case 'ERR_FLAKE_RECORD':
      return `${error.record} ${error.slots?.[0]?.owner}`
  }
  if (error instanceof RangeError && error.code === 'ERR_FLAKE_TIME_RANGE') return error.timestamp.toFixed()
  return code + name
}
const overflow = (error: FlakeError<'ERR_FLAKE_OVERFLOW'>): number => error.retryAfterMs
/** As in the declarations of jest and vitest. */
const toThrow = (expected: new (...args: any[]) => any): unknown => expected
toThrow(FlakeError)
void overflow
