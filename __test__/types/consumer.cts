// A CommonJS consumer of the types, by `import X = require()`: the result of `require('flakeforge')` is a class and a
// namespace at once. The members are in consumer.mts: both kinds of module have the same types. It is compiled, and the
// output is run.

import assert = require('node:assert')
import codec = require('flakeforge/codec')
import FlakeId = require('flakeforge')
import lease = require('flakeforge/lease')
import metrics = require('flakeforge/metrics')
import remote = require('flakeforge/remote')

import type { Base, FormatOptions, IdLike, Parts } from 'flakeforge'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <T extends true>(is: T): T => is

function theClass(): void {
  same<Equal<typeof FlakeId.FlakeId, typeof FlakeId>>(true)
  same<Equal<typeof FlakeId.default, typeof FlakeId>>(true)
  assert.ok(FlakeId.FlakeId === FlakeId && FlakeId.default === FlakeId)
}

/** Types are names in the namespace, also those without a value. */
function types(): FlakeId {
  const layout = {
    tickMs: 10,
    fields: [
      ['timestamp', 41],
      ['pod', 23],
    ],
  } as const satisfies FlakeId.LayoutSpec
  const own: FlakeId.FlakeIdOptions<typeof layout> = { layout, pod: '7' }
  assert.strictEqual(new FlakeId(own).decode(7n).pod, 7)
  const options: FlakeId.FlakeIdOptions = { datacenter: 9, worker: '7', epoch: '1300000000000', seqMask: null }
  const flake: FlakeId = new FlakeId(options)
  const parts: Parts = flake.decode(flake.next())
  const stats: FlakeId.Stats = flake.stats
  const made: FlakeId.Layout = new FlakeId.Layout(flake.layout, { epoch: 5 })
  assert.deepStrictEqual([parts.id, stats.ids, made.epoch], [295, 1, 5])
  return flake
}

/** Functions are properties of the class. */
function functions(): void {
  const id: IdLike = '0x7b'
  const base: Base = 'hex'
  const style: FormatOptions = { prefix: '0x' }
  assert.deepStrictEqual([FlakeId.toBigInt(id), FlakeId.format(id, base, style)], [123n, '0x7b'])
  assert.deepStrictEqual([3n, 1n].sort(FlakeId.compare), [1n, 3n])
  const seal: FlakeId.Seal = new FlakeId.Seal(new Uint8Array(16), { tweak: 'orders' } satisfies FlakeId.SealOptions)
  assert.strictEqual(FlakeId.toBigInt(seal.openString(seal.sealString(id))), 123n)
}

function otherEntries(): void {
  const parts: codec.Parts<'discord'> = codec.layouts.discord.decode(175928847299117063n)
  assert.strictEqual(parts.process, 0)
  const make: Array<typeof lease.redisStore> = [lease.redisStore]
  assert.throws(() => make[0]?.(null), { code: 'ERR_FLAKE_OPTION' })
  assert.throws(() => metrics.openTelemetryMetrics(undefined), { code: 'ERR_FLAKE_OPTION' })
  const connect: (urls: string, options: remote.RemoteOptions) => Promise<remote.RemoteFlakeId> =
    remote.RemoteFlakeId.connect
  assert.strictEqual(typeof connect, 'function')
}

/** Code that must not compile. It is never called: the compiler complains where a line below has no error. */
export function mistakes(flake: FlakeId): void {
  // @ts-expect-error: a misspelt option
  new FlakeId({ wroker: 5 })
  // @ts-expect-error: flake-idgen took it, a class needs new
  FlakeId()
  // @ts-expect-error: no such base
  FlakeId.format(5n, 'base64')
  // @ts-expect-error: it can be read only
  flake.id = 5
  // @ts-expect-error: join() makes these
  new lease.LeasedFlakeId()
  // @ts-expect-error: it is a type here, and its class is in flakeforge/lease
  FlakeId.LeasedFlakeId
  // @ts-expect-error: no such export
  FlakeId.nothing
}

theClass()
types()
functions()
otherEntries()
console.log('consumer.cts is right')
