// Lists the counters of SegmentId on a store. Listing takes no number.

import { printable } from '../../lib/base/printable.ts'
import type { CounterInfo } from '../../lib/entries/lease.ts'
import { readName } from '../../lib/lease/common-options.ts'
import type { Given } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { print } from '../parts/output.ts'
import { toTable } from '../parts/table.ts'
import { type AnyStore, noCounter, placeOf, storeFirst, withPresentStore } from './stores.ts'

const HEADINGS = ['counter', 'next number', 'durable', 'state']

const row = ({ name, next, durable, isLost }: CounterInfo) => [
  name,
  String(next),
  durable === undefined ? '' : durable ? 'yes' : 'no',
  isLost ? 'stopped until skipTo()' : 'counts',
]

async function find(store: AnyStore, named?: string) {
  if (named === undefined) {
    const all = await store.counters?.()
    if (all === undefined) throw usageError('This server cannot list its counters. Name one with --segment.')
    return all
  }
  const counter = await store.counter(named)
  if (counter === undefined) throw await noCounter(store, named)
  return [counter]
}

const toJson = (counters: CounterInfo[]) =>
  counters.map((counter) => `${JSON.stringify({ ...counter, next: String(counter.next) })}\n`).join('')

export async function run({ values, operands }: Given) {
  const [name, more] = storeFirst(operands, (word) => `flakeforge counters STORE --segment ${word}`)
  if (more.length > 0)
    throw usageError(`counters takes one DIR or URL, not ${operands.length}. Name a counter with --segment.`)
  const named = values.segment === undefined ? undefined : readName('segment', values.segment)
  const [found, place] = await withPresentStore(
    name,
    async (store) => [await find(store, named), placeOf(store)] as const,
  )
  if (values.json) return print(toJson(found))
  if (found.length === 0) return print(`There are no counters ${printable(place)}.\n`)
  await print(`${toTable(HEADINGS, found.map(row))}\n`)
}
