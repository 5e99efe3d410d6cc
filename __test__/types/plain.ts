// A consumer in a file whose extension does not tell the kind of module: for bundlers, and for TypeScript's older ways
// to find modules. It is compiled and not run.

import type { Stats } from 'flakeforge'
import * as all from 'flakeforge'
import FlakeId, { format, type IdLike, Layout, layouts, toBigInt } from 'flakeforge'

const flake: FlakeId = new FlakeId({ datacenter: 9, worker: 7 })
const again: InstanceType<typeof all.FlakeId> = flake
const buffer: Buffer = again.next()
const big: bigint = toBigInt(buffer)
const text: string = format(big, 'hex', { prefix: '0x' })
const id: IdLike = text
const stats: Stats = flake.stats
const order: -1 | 0 | 1 = all.compare(id, big)
const parsed: Buffer = all.parse(text, 'base58')
const date: Date = layouts.discord.decode(id).date
const mine: Layout = new Layout({
  fields: [
    ['timestamp', 41],
    ['shard', 23],
  ],
})

export const results: ReadonlyArray<unknown> = [stats, order, parsed, date, mine, all.default === FlakeId]

export function mistakes(): void {
  // @ts-expect-error: an option of another type
  new FlakeId({ mode: 'x' })
  // @ts-expect-error: no such base
  flake.nextString('base64')
  // @ts-expect-error: no such export
  all.nothing
  // @ts-expect-error: a number is no text
  const number: number = format(big)
  void number
}
