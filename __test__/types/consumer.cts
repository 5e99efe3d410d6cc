// A CommonJS consumer of the types, by `import X = require()`. It is compiled, and what comes out is run, so the types are
// true of what is there.

import assert = require('node:assert')
import FlakeId = require('flakeforge')
import lease = require('flakeforge/lease')

import type { Base, FormatOptions, IdLike, Parts } from 'flakeforge'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <T extends true>(is: T): T => is

function theClass(): void {
  same<Equal<typeof FlakeId.FlakeId, typeof FlakeId>>(true)
  same<Equal<typeof FlakeId.default, typeof FlakeId>>(true)
  assert.ok(FlakeId.FlakeId === FlakeId && FlakeId.default === FlakeId)
}

function options(): FlakeId {
  const absent: FlakeId.FlakeIdOptions = { datacenter: null, worker: undefined, id: null, epoch: null, clock: null }
  const text: FlakeId.FlakeIdOptions = { datacenter: '9', worker: '7', epoch: '1300000000000', seqMask: '4095' }
  const numbers: FlakeId.FlakeIdOptions = { id: 295, maxAheadMs: Number.POSITIVE_INFINITY, maxWaitMs: 5 }
  const clock: FlakeId.FlakeIdOptions = {
    clock: () => 1n,
    epoch: new Date(0),
    layout: 'flake',
    seqMask: 7,
    counterStart: 'random',
  }
  for (const each of [absent, text, numbers, clock, null, undefined]) new FlakeId(each)
  new FlakeId({ clock: Date.now })
  const hazelcast: FlakeId.FlakeIdOptions = { layout: 'hazelcast', node: 5, nodeOffset: '10', idOffset: -5n }
  const snowcast: FlakeId.FlakeIdOptions = { layout: 'snowcast', nodes: '128', prefetch: { count: 100, validityMs: 0 } }
  const uniqueid: FlakeId.FlakeIdOptions = { layout: FlakeId.layouts.uniqueid, mode: 'sequential', prefetch: true }
  for (const each of [hazelcast, snowcast, uniqueid]) assert.ok(new FlakeId(each).next().length === 8)
  const layout = {
    tickMs: 10,
    fields: [
      ['timestamp', 41],
      ['pod', 23],
    ],
  } as const satisfies FlakeId.LayoutSpec
  const own: FlakeId.FlakeIdOptions<typeof layout> = { layout, pod: '7' }
  assert.strictEqual(new FlakeId(own).decode(7n).pod, 7)
  return new FlakeId({ datacenter: 9, worker: 7, maxAheadMs: 1000 })
}

async function methods(flake: FlakeId): Promise<void> {
  const buffers: Buffer[] = [
    flake.next(),
    flake.next(null),
    flake.next(undefined),
    flake.take(3),
    await flake.nextAsync(),
  ]
  for (const buffer of [...buffers, await flake.takeAsync(2)]) assert.ok(Buffer.isBuffer(buffer))
  const big: bigint = flake.nextBigInt()
  assert.strictEqual(typeof big, 'bigint')
  const bigs: BigUint64Array = flake.takeBigInts(2)
  assert.ok(bigs instanceof BigUint64Array)
  const bases: Base[] = ['dec', 'hex', 'bin', 'oct', 'base32']
  const texts: string[] = [flake.nextString(), ...bases.map((base) => flake.nextString(base))]
  assert.ok(texts.every((text) => typeof text === 'string'))
  flake.next((error: Error | null, id: Buffer) => assert.ok(error === null && id.length === 8))
  const withCallback = (callback: (error: Error | null, id: Buffer) => void) => flake.next(callback)
  same<Equal<ReturnType<typeof withCallback>, void>>(true)
}

async function iterators(flake: FlakeId): Promise<void> {
  const iterable: AsyncIterable<Buffer> = flake
  for await (const id of iterable) {
    same<Equal<typeof id, Buffer>>(true)
    assert.strictEqual(id.length, 8)
    break
  }
  const ids = flake[Symbol.asyncIterator]()
  for await (const id of ids) {
    same<Equal<typeof id, Buffer>>(true)
    break
  }
  assert.deepStrictEqual(await ids.next(), { done: true, value: undefined })
}

function properties(flake: FlakeId): void {
  same<Equal<typeof flake.datacenter, number | undefined>>(true)
  same<Equal<typeof flake.worker, number | undefined>>(true)
  const numbers: number[] = [flake.id, flake.epoch]
  assert.deepStrictEqual([flake.datacenter, flake.worker, ...numbers], [9, 7, 295, 0])
  const { ids, batches, overflows, clockSteps, waits, waitedMs, aheadMs, since, ...others }: FlakeId.Stats = flake.stats
  const counts: number[] = [ids, batches, overflows, clockSteps, waits, waitedMs, aheadMs]
  assert.ok(counts.every((count) => typeof count === 'number'))
  same<Equal<keyof typeof others, never>>(true)
  assert.deepStrictEqual(others, {})
  const day: Date = since
  assert.ok(day instanceof Date)
}

function layouts(flake: FlakeId): void {
  const layout: FlakeId.Layout = flake.layout
  const name: string = layout.name
  const fields: ReadonlyArray<readonly [string, number]> = layout.fields
  assert.deepStrictEqual([name, fields.length, layout.epoch], ['flake', 4, 0])
  const ends: Date[] = [layout.end, layout.signedEnd]
  assert.deepStrictEqual(
    ends.map((end) => end.getUTCFullYear()),
    [2109, 2039],
  )
  const made: FlakeId.Layout = new FlakeId.Layout(layout, { epoch: 5 })
  const built: Buffer = made.encode({ timestamp: new Date(1e12), datacenter: 9, counter: 3 })
  const { min, max }: { min: Buffer; max: Buffer } = made.range(1e12, new Date(1e12))
  assert.ok(FlakeId.compare(min, built) === -1 && FlakeId.compare(built, max) === -1)
  const text: string = FlakeId.layouts.chronicle.toText(28n)
  const back: Buffer = FlakeId.layouts['chronicle-micros'].fromText('1970-01-01T00:00:00.000028000')
  assert.deepStrictEqual([text.slice(-3), back[7]], ['028', 28])
  const mode: 'spread' | 'sequential' | undefined = FlakeId.layouts.uniqueid.decode(4096n).mode
  assert.strictEqual(mode, 'sequential')
  const parts: Parts = flake.decode(flake.next())
  const {
    timestamp,
    date,
    tick,
    counter,
    id,
  }: { timestamp: number; date: Date; tick: bigint; counter: number; id: number } = parts
  assert.deepStrictEqual(
    [date.getTime(), tick, id, parts.datacenter, parts.worker],
    [timestamp, BigInt(timestamp), 295, 9, 7],
  )
  assert.strictEqual(typeof counter, 'number')
  assert.strictEqual(layout.decode('0x7b').counter, 123)
}

function functions(): void {
  const forms: IdLike[] = [Buffer.from([0, 0, 0, 0, 0, 0, 0, 5]), new Uint8Array(8).fill(0), 5n, 5, '5', '0x5', '0b101']
  const bigs: bigint[] = forms.map((form) => FlakeId.toBigInt(form))
  assert.deepStrictEqual(bigs, [5n, 0n, 5n, 5n, 5n, 5n, 5n])
  const signed: bigint = FlakeId.toSigned(2n ** 64n - 1n)
  const back: Buffer = FlakeId.fromSigned(signed)
  const ofText: Buffer = FlakeId.fromSigned(String(signed))
  assert.deepEqual(back, ofText)
  assert.deepStrictEqual([signed, back.toString('hex')], [-1n, 'f'.repeat(16)])
  const order: -1 | 0 | 1 = FlakeId.compare(1n, '2')
  assert.strictEqual(order, -1)
  assert.deepStrictEqual([3n, 1n].sort(FlakeId.compare), [1n, 3n])
  const parsed: Buffer[] = [FlakeId.parse('5'), FlakeId.parse('5', 'hex'), FlakeId.parse('5', null)]
  assert.ok(parsed.every((id) => id[7] === 5))
}

function seals(): void {
  const options: FlakeId.SealOptions[] = [{ tweak: 'orders' }, { tweak: Buffer.from('orders') }, { tweak: null }, {}]
  for (const each of [...options, null, undefined]) new FlakeId.Seal(new Uint8Array(16), each)
  const seal: FlakeId.Seal = new FlakeId.Seal(Buffer.alloc(32), { tweak: 'orders' })
  const sealed: [Buffer, bigint, string, string] = [
    seal.seal('5'),
    seal.sealBigInt(5n),
    seal.sealString('0x5'),
    seal.sealString(Buffer.from([0, 0, 0, 0, 0, 0, 0, 5]), 'base62'),
  ]
  const opened: [Buffer, bigint, Buffer, Buffer] = [
    seal.open(sealed[0]),
    seal.openBigInt(sealed[1]),
    seal.openString(sealed[2], null),
    seal.openString(sealed[3], 'base62'),
  ]
  assert.deepStrictEqual(opened.map(FlakeId.toBigInt), [5n, 5n, 5n, 5n])
  const numbers: BigUint64Array = seal.openAll(seal.sealAll(BigUint64Array.of(7n)))
  const bytes: Buffer = seal.openAll(seal.sealAll(new Uint8Array(8)))
  assert.deepStrictEqual([numbers[0], bytes.length], [7n, 8])
}

function formatting(): void {
  const all: FormatOptions = {
    prefix: '0x',
    groupsize: 2,
    delimiter: ':',
    padstr: '0',
    size: 9,
    trim: true,
    format: 'LE',
  }
  const frozen = Object.freeze({ prefix: '0x' })
  const bytes = [1, 2] as const
  const texts: string[] = [
    FlakeId.format(5n),
    FlakeId.format('5', null, null),
    FlakeId.format(bytes, 'hex', frozen),
    FlakeId.format(new Uint8Array(3), 'bin', all),
  ]
  assert.deepStrictEqual(texts.slice(0, 3), ['5', '5', '0x102'])
}

/** What must not compile. It is never called: the compiler complains where a line below has no error. */
export function mistakes(flake: FlakeId): void {
  // @ts-expect-error: no such mode
  new FlakeId({ layout: 'uniqueid', mode: 'x' })
  // @ts-expect-error: an offset of IDs is a bigint
  new FlakeId({ idOffset: 5 })
  // @ts-expect-error: a counter starts at 0 or at random
  new FlakeId({ counterStart: 5 })
  // @ts-expect-error: a misspelt option
  new FlakeId({ wroker: 5 })
  // @ts-expect-error: a field of another layout
  new FlakeId({ layout: 'hazelcast', worker: 5 })
  // @ts-expect-error: a misspelt part
  flake.decode(5n).wroker
  // @ts-expect-error: a part of another layout
  flake.decode(5n).node
  // @ts-expect-error: a misspelt option of the lease
  FlakeId.join('redis://localhost', { gruop: 'orders' })
  // @ts-expect-error: the slot is the node number
  FlakeId.join('redis://localhost', { id: 5 })
  // @ts-expect-error: options are the second argument
  FlakeId.join({ group: 'orders' })
  // @ts-expect-error: no such form
  new FlakeId({ prefetch: 'x' })
  // @ts-expect-error: no such choice
  new FlakeId({ prefetch: { counts: 5 } })
  // @ts-expect-error: it is no layout
  new FlakeId.Layout(5)
  // @ts-expect-error: a layout needs something to be made of
  new FlakeId.Layout()
  // @ts-expect-error: a misspelt choice
  new FlakeId.Layout('snowcast', { node: 128 })
  // @ts-expect-error: fields are pairs
  new FlakeId({ layout: { fields: [['timestamp']] } })
  // @ts-expect-error: a misspelt part
  flake.layout.encode({ tikc: 5n })
  // @ts-expect-error: a tick is a bigint
  flake.layout.encode({ tick: 5 })
  // @ts-expect-error: an ID is not an array of bytes
  FlakeId.layouts.chronicle.toText([5])
  // @ts-expect-error: an option of another type
  new FlakeId({ worker: true })
  // @ts-expect-error: no such layout
  new FlakeId({ layout: 'nope' })
  // @ts-expect-error: a clock that tells no time
  new FlakeId({ clock: () => 'now' })
  // @ts-expect-error: a clock that is a time
  new FlakeId({ clock: 5 })
  // @ts-expect-error: options that are none
  new FlakeId(5)
  // @ts-expect-error: flake-idgen took it, a class needs new
  FlakeId()
  // @ts-expect-error: a callback that is none
  flake.next('x')
  // @ts-expect-error: a callback that wants something else
  flake.next((_error: Error | null, id: string) => id)
  // @ts-expect-error: with a callback nothing comes back
  const id: Buffer = flake.next(() => {})
  // @ts-expect-error: no such base
  flake.nextString('base64')
  // @ts-expect-error: no such base
  FlakeId.format(5n, 'base64')
  // @ts-expect-error: no such base
  FlakeId.parse('5', 'decimal')
  // @ts-expect-error: no such base
  FlakeId.isId('5', 'decimal')
  // @ts-expect-error: a count that is none
  flake.take('5')
  // @ts-expect-error: a count that is none
  flake.takeBigInts()
  // @ts-expect-error: a count that is none
  flake.takeAsync(5n)
  // @ts-expect-error: an ID is not an array of bytes
  FlakeId.toBigInt([5])
  // @ts-expect-error: an ID is not an array of bytes
  FlakeId.toSigned([5])
  // @ts-expect-error: a signed value is a bigint or text
  FlakeId.fromSigned(5)
  // @ts-expect-error: an ID is not an array of bytes
  FlakeId.compare([5], [6])
  // @ts-expect-error: a seal has a key
  new FlakeId.Seal()
  // @ts-expect-error: a key is bytes
  new FlakeId.Seal('secret')
  // @ts-expect-error: a misspelt option
  new FlakeId.Seal(Buffer.alloc(16), { tweek: 'orders' })
  // @ts-expect-error: a base whose text has 13 characters
  new FlakeId.Seal(Buffer.alloc(16)).sealString(5n, 'base32')
  const order: `ord_${string}` = new FlakeId.Seal(Buffer.alloc(16), { prefix: 'ord_' }).sealString(5n)
  // @ts-expect-error: the prefix of another table
  const customer: `cus_${string}` = new FlakeId.Seal(Buffer.alloc(16), { prefix: 'ord_' }).sealString(5n)
  // @ts-expect-error: no ID has such a form
  FlakeId.parse('5', 'dec', { prefix: 5 }) === order || customer
  // @ts-expect-error: bigints come back as bigints
  new FlakeId.Seal(Buffer.alloc(16)).sealAll(BigUint64Array.of(5n)).readBigUInt64BE()
  // @ts-expect-error: an array of bytes has bytes
  FlakeId.format(['5'])
  // @ts-expect-error: an ID is not an array of bytes
  flake.decode([5])
  // @ts-expect-error: no such option
  FlakeId.format(5n, 'hex', { prefx: '0x' })
  // @ts-expect-error: no such order
  FlakeId.format(5n, 'hex', { format: 'ME' })
  // @ts-expect-error: text is not parsed from bytes
  FlakeId.parse(flake.next())
  // @ts-expect-error: it can be read only
  flake.id = 5
  // @ts-expect-error: it can be read only
  flake.layout.epoch = 5
  // @ts-expect-error: it can be read only
  flake.layout.fields.push(['x', 1])
  // @ts-expect-error: join() makes these
  new lease.LeasedFlakeId()
  // @ts-expect-error: open() makes these
  new lease.SegmentId()
  // @ts-expect-error: a counter has a name
  lease.SegmentId.open('redis://localhost', { block: 5 })
  // @ts-expect-error: no such event
  FlakeId.join().then((leased) => leased.on('closed', () => {}))
  // @ts-expect-error: a store that is none
  FlakeId.join({ open: () => {} })
  // @ts-expect-error: a bigint is not a number
  const sum: number = flake.nextBigInt() + 1
  // @ts-expect-error: it may be undefined
  const worker: number = flake.worker
  // @ts-expect-error: no such export
  FlakeId.nothing
  void [id, sum, worker]
}

async function main(): Promise<void> {
  theClass()
  const flake = options()
  await methods(flake)
  await iterators(flake)
  properties(flake)
  layouts(flake)
  functions()
  seals()
  formatting()
  console.log('consumer.cts is right')
}

main()
