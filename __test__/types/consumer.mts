// An ES consumer of the types: default, named, namespace and type imports. It is compiled, and the output is run, so
// the types match the values.

import assert from 'node:assert'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type DefaultType from 'flakeforge'
import type {
  Base,
  FlakeIdOptions,
  FormatOptions,
  IdLike,
  JoinOptions,
  LayoutName,
  LayoutOptions,
  LayoutSpec,
  Parts,
  SealOptions,
  Stats,
  Store,
} from 'flakeforge'
import * as all from 'flakeforge'
import FlakeId, {
  compare,
  createGroup,
  format,
  fromSigned,
  isId,
  jsonReplacer,
  jsonReviver,
  Layout,
  layouts,
  FlakeId as Named,
  parse,
  Seal,
  toBigInt,
  toSigned,
} from 'flakeforge'
import {
  fileStore,
  LeasedFlakeId,
  mysqlStore,
  postgresStore,
  type QuorumOptions,
  quorumStore,
  type RecordStore,
  recordStore,
  redisStore,
  SegmentId,
  type SlotInfo,
  type StoreIdentity,
} from 'flakeforge/lease'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <T extends true>(is: T): T => is

same<Equal<typeof FlakeId, typeof Named>>(true)
same<Equal<FlakeId, Named>>(true)
same<Equal<FlakeId, DefaultType>>(true)
assert.ok(FlakeId === Named && FlakeId === all.default && FlakeId === all.FlakeId)

/** A user's own class around a generator. */
class Ids extends FlakeId {
  text(base: Base = 'dec'): string {
    return this.nextString(base)
  }
}

const name: LayoutName = 'flake'
const options: FlakeIdOptions = { datacenter: 9, worker: '7', layout: name, epoch: new Date(1e12), maxAheadMs: 1000 }
const flake: DefaultType = new Named(options)
const made: Buffer[] = [flake.next(), flake.take(2), await flake.nextAsync(), await flake.takeAsync(2)]
const bigs: [bigint, BigUint64Array] = [flake.nextBigInt(), flake.takeBigInts(2)]
const safe = new FlakeId({ layout: 'safe', node: 3 })
const numbers: [number, Float64Array] = [safe.nextNumber(), safe.takeNumbers(2)]
assert.equal(safe.decode(numbers[0]).node + safe.decode(numbers[1][1] ?? 0).node, 6)
const texts: string[] = [flake.nextString(), flake.nextString('base32'), new Ids(options).text('hex')]
assert.deepEqual(
  made.map(({ length }) => length),
  [8, 16, 8, 16],
)
assert.deepEqual([bigs[1].length, texts.length], [2, 3])

const folder = await mkdtemp(join(tmpdir(), 'flakeforge-types-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const joinOptions: JoinOptions = { group: 'orders', slots: 8, ttlMs: 30_000, layout: 'hazelcast', skewMs: 0, waitMs: 0 }
const store: Store = fileStore(folder)
const leased: LeasedFlakeId = await FlakeId.join(store, joinOptions)
assert.ok(leased instanceof LeasedFlakeId && leased instanceof FlakeId)
const flow: ['attached' | 'detached' | 'destroyed', number | undefined, Date | undefined, Buffer] = [
  leased.state,
  leased.slot,
  leased.expires,
  leased.next(),
] as const
assert.deepEqual(flow.slice(0, 2), ['attached', 0])
leased.on('detached', ({ group, slot, cause }) => {
  same<Equal<[typeof group, typeof slot, typeof cause], [string, number | undefined, Error | undefined]>>(true)
})
leased.once('lost', ({ slot }) => slot?.toFixed()).off('error', ({ message }) => message)
const emitter: NodeJS.EventEmitter = leased
const detached: Promise<unknown[]> = once(leased, 'detached')
// @ts-expect-error no event
assert.throws(() => leased.on('losst', () => {}))
assert.deepEqual([emitter.listenerCount('lost'), leased.listenerCount('detached')], [1, 2])
const info: SlotInfo | undefined = (await store.list('orders'))[0]
assert.deepEqual([typeof info?.owner, info?.pid, info?.last instanceof Date], ['string', process.pid, true])
await leased[Symbol.asyncDispose]()
assert.deepEqual(await detached, [{ group: 'orders', slot: 0 }])
await createGroup(store, { ...joinOptions, group: 'invoices' })
const segment: SegmentId = await SegmentId.open(store, { name: 'invoices', block: 100, init: 41n, durable: false })
const dense: [bigint, Buffer, boolean] = [segment.nextBigInt(), segment.next(), await segment.init(5)]
assert.deepEqual([dense[0], dense[2]], [42n, false])
const batches: [Buffer, BigUint64Array, Buffer] = [segment.take(1), segment.takeBigInts(2), await segment.takeAsync(3)]
assert.deepEqual(
  batches.map(({ length }) => length),
  [8, 2, 24],
)
await segment.close()

/** A user's own database, as text in memory. */
const identity: StoreIdentity = { history: '', process: 'this one' }
const records = new Map<string, string>()
const ours: RecordStore = {
  read: async (_group, names) => ({
    now: Date.now(),
    identity,
    values: names.map((name) => records.get(name) ?? null),
  }),
  swap: async (_group, name, from, to) => {
    if ((records.get(name) ?? null) !== from) return false
    records.set(name, to)
    return true
  },
  names: async () => [...records.keys()],
}
const inMemory: Store = recordStore(ours)
const durable: JoinOptions = { group: 'orders', durable: true, skewMs: 0 }
const ofOurs = await FlakeId.join(inMemory, durable)
const [held]: SlotInfo[] = await inMemory.list('orders')
assert.deepEqual([held?.slot, inMemory.groups, typeof held?.lo], [ofOurs.slot, undefined, 'number'])
await ofOurs.close()
await inMemory.destroy('orders')
const ofThree: QuorumOptions = { labels: ['a', 'b', 'c'] }
const three: Store = quorumStore([inMemory, ours, recordStore({ ...ours })], ofThree)
assert.throws(() => quorumStore(['redis://a', inMemory, ours], ofThree), /npm install ioredis/) // no client is here
assert.equal(typeof three.list, 'function')
await assert.rejects(FlakeId.join(['redis://a', 'redis://b'] as const), { code: 'ERR_FLAKE_OPTION' })
// @ts-expect-error only flakeforge makes stores
const notOurs: Store = { destroy: inMemory.destroy, list: inMemory.list }
assert.ok(notOurs)
for (const make of [redisStore, postgresStore, mysqlStore])
  assert.throws(() => make(null), { code: 'ERR_FLAKE_OPTION' })

const called: Promise<Buffer> = new Promise((resolve, reject) => {
  flake.next((error, id) => {
    same<Equal<typeof error, Error | null>>(true)
    same<Equal<typeof id, Buffer>>(true)
    if (error) reject(error)
    else resolve(id)
  })
})
assert.equal((await called).length, 8)

for await (const id of flake) {
  assert.equal(id.readBigUInt64BE() > 0n, true)
  break
}

const { since, ...counts }: Stats = flake.stats
const allCounts: number[] = Object.values<number>(counts)
assert.ok(allCounts.length === 7 && since.getTime() <= Date.now())

const layout: Layout = flake.layout
const parts: Parts = flake.decode(await called)
const stats: Stats = flake.stats
assert.deepEqual([layout.name, parts.id, stats.ids > 0], ['flake', 295, true])

const names: LayoutName[] = [
  'hazelcast',
  'snowcast',
  'uniqueid',
  'chronicle',
  'chronicle-micros',
  'twitter',
  'sonyflake',
  'safe',
]
for (const each of names) assert.equal(layouts[each].name, each)
const podFields = [
  ['timestamp', 41],
  ['pod', 23],
] as const
const spec: LayoutSpec = { name: 'mine', epoch: new Date(1e12), tickMs: 10, fields: podFields }
const choices: LayoutOptions = { epoch: '5', nodes: 128, mode: null, idOffset: undefined }
assert.equal(new Layout(spec, { idOffset: -5n }).name, 'mine')
assert.deepEqual(new Layout('snowcast', choices).fields[1], ['node', 7])
const mine = new FlakeId({ layout: { ...spec, fields: podFields }, pod: 77, nodeOffset: -7, prefetch: { count: 5 } })
const pod: number = mine.decode(mine.nextBigInt()).pod
assert.equal(pod, 70)
const anyLayout: Layout = mine.layout
assert.equal(new FlakeId({ layout: anyLayout, id: 5 }).id, 5)
for (const prefetch of [true, false, 7, { validityMs: 0 }, null]) new FlakeId({ ...options, prefetch }).next()

const id: IdLike = '0x7b'
const style: FormatOptions = { prefix: '0x' }
const results: [bigint, bigint, Buffer, -1 | 0 | 1, string, Buffer] = [
  toBigInt(id),
  toSigned(id),
  fromSigned(123n),
  compare(id, 123n),
  format(id, 'hex', style),
  parse('7b', 'hex'),
]
assert.deepEqual(results, [123n, 123n, parse('123'), 0, '0x7b', fromSigned(123n)])

const known: unknown[] = ['1', 'x', 2n].filter(isId)
assert.deepEqual([known, isId('7b', 'hex'), isId(null)], [['1', 2n], true, false])

const received: unknown[] = JSON.parse('["1", "x", null, 3]')
const ids: IdLike[] = received.filter(isId)
const decimals: string[] = received.filter((value): value is string => isId(value, 'dec'))
assert.deepEqual([ids, decimals], [['1', 3], ['1']])
const param: string | string[] | undefined = ['1', '2'].at(1)
if (isId(param, 'dec')) assert.equal(parse(param).readBigUInt64BE(), 2n)
const query = '12x' as string | undefined
if (!isId(query, 'dec')) assert.equal(query?.length, 3) // a string that is not an ID is still a string
const text: string = 'x'
if (!isId(text)) assert.equal(text.length, 1)
const base = 'dec' as Base | undefined
assert.equal(isId(received[0], base) && toBigInt(received[0]), 1n)

const uuid: string = layouts.flake.toUuid(id)
const ofUuid: Buffer = layouts.flake.fromUuid(uuid)
const keys = ['id'] as const
const revived: { id: bigint } = JSON.parse(JSON.stringify({ id: 123n }, jsonReplacer), jsonReviver(keys))
const unlessSecret = (key: string, value: unknown): unknown => (key === 'secret' ? undefined : jsonReplacer(key, value))
assert.deepEqual([toBigInt(ofUuid), revived.id, JSON.stringify([7n], unlessSecret)], [123n, 123n, '["7"]'])
const sealOptions: SealOptions = { tweak: 'orders' }
const seal: Seal = new Seal(Buffer.alloc(16), sealOptions)
assert.equal(toBigInt(seal.openString(seal.sealString(id))), 123n)

const sealed: [Buffer, bigint, string] = [seal.seal('5'), seal.sealBigInt(5n), seal.sealString('0x5', 'base62')]
const opened: Array<Buffer | bigint> = [seal.open(sealed[0]), seal.openBigInt(sealed[1])]
assert.deepEqual([...opened, seal.openString(sealed[2], 'base62')].map(toBigInt), [5n, 5n, 5n])
const [ofNumbers]: BigUint64Array = seal.openAll(seal.sealAll(BigUint64Array.of(7n)))
const ofBytes: Buffer = seal.openAll(seal.sealAll(new Uint8Array(8)))
assert.deepEqual([ofNumbers, ofBytes.length], [7n, 8])

const orders = new Seal(Buffer.alloc(16), { tweak: 'orders', prefix: 'ord_' })
const order: `ord_${string}` = orders.sealString(id)
const anySeal: Seal = orders
const noPrefix: string = new Seal(Buffer.alloc(16), { tweak: 'orders' }).sealString(id)
const named: Seal<'ord_'> = orders
assert.deepEqual([toBigInt(named.openString(order)), order.slice(4)], [123n, noPrefix])
assert.ok(anySeal.sealString(id).startsWith('ord_'))
assert.equal(toBigInt(parse(format(123n, 'base58', { prefix: 'ord_' }), 'base58', { prefix: 'ord_' })), 123n)

/** Code that must not compile. It is never called: the compiler complains where a line below has no error. */
export async function mistakes(): Promise<void> {
  // @ts-expect-error: no such mode
  new FlakeId({ mode: 'x' })
  // @ts-expect-error: a misspelt option
  const misspelt: FlakeIdOptions = { wroker: 1 }
  // @ts-expect-error: a misspelt option of the lease
  const misspeltToo: JoinOptions = { gruop: 'orders' }
  // @ts-expect-error: the slot is the node number
  const wrongHere: JoinOptions = { id: 5 }
  // @ts-expect-error: an offset of IDs is an integer
  const wrong: FlakeIdOptions = { idOffset: true }
  // @ts-expect-error: it is no layout
  new Layout(5)
  // @ts-expect-error: no such layout
  new Layout('nope')
  // @ts-expect-error: fields are pairs
  const flat: LayoutSpec = { fields: ['timestamp', 64] }
  // @ts-expect-error: fields are what a layout is
  const empty: LayoutSpec = { epoch: 5 }
  // @ts-expect-error: an invalid callback
  flake.next('x')
  // @ts-expect-error: a promise is no Buffer
  const buffer: Buffer = flake.nextAsync()
  // @ts-expect-error: no such base
  const base: Base = 'base64'
  // @ts-expect-error: no such layout
  const other: LayoutName = 'nope'
  // @ts-expect-error: no such layout
  layouts.nope
  // @ts-expect-error: it can be read only
  layouts.flake = layouts.discord
  // @ts-expect-error: an ID is not an array of bytes
  toBigInt([5])
  // @ts-expect-error: a signed value is a bigint or text
  fromSigned(5)
  // @ts-expect-error: no such base
  isId('5', 'base64')
  // @ts-expect-error: in base 32, an ID is text
  if (isId(received[0], 'base32')) takesBigint(received[0])
  // @ts-expect-error: without a base, it can be a bigint too
  if (isId(received[0])) takesText(received[0])
  // @ts-expect-error: it is no ID itself
  takesText(isId('5'))
  // @ts-expect-error: the texts of another seal
  const user: `usr_${string}` = orders.sealString(1n)
  // @ts-expect-error: a seal with another prefix
  const users: Seal<'usr_'> = orders
  // @ts-expect-error: a prefix is text
  new Seal(Buffer.alloc(16), { prefix: 5 })
  // @ts-expect-error: parse has the option prefix only
  parse('5', 'dec', { size: 5 })
  // @ts-expect-error: a prefix is text
  parse('5', 'dec', { prefix: 5 })
  // @ts-expect-error: keys are an array
  jsonReviver('id')
  // @ts-expect-error: none is no list of keys
  jsonReviver(null)
  // @ts-expect-error: keys are text
  jsonReviver([5])
  // @ts-expect-error: a UUID is text
  layouts.flake.fromUuid(Buffer.alloc(16))
  // @ts-expect-error: no such method
  new Named().nextHex()
  // @ts-expect-error: an asynchronous step is needed for waiting, and it gives a Buffer
  for await (const text of flake) takesText(text)
  void [user, users, misspelt, misspeltToo, wrongHere, wrong, flat, empty, buffer, base, other]
}

const takesText = (text: string): string => text

console.log('consumer.mts is right')
