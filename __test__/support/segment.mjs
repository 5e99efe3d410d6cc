// SegmentId on a counter in this process, which a test can make slow, fail and forget.

import { createRequire } from 'node:module'
import { lease, outcomes } from './index.mjs'

export const { counterError, mismatchError, storeError } = createRequire(import.meta.url)(
  '../../target/rooms/lib/base/errors.js',
)
export const { SegmentId } = lease
export const LAST = 2n ** 64n - 2n // the last possible ID: a counter ends at 2^64 - 1

const unused = async () => {
  throw new Error('a counter needs none of this')
}

/** Counters by the rules of `advance`, the store's. */
export class Counters {
  values = new Map()
  calls = []
  lineage = '00000000000000aa'
  /** whether the last call trusted this store */
  durable
  /** each step waits for this function's result, and throws its error */
  before = async () => {}

  constructor() {
    for (const step of ['create', 'acquire', 'renew', 'release', 'destroy', 'list']) this[step] = unused
  }

  fail(error) {
    this.before = async () => {
      throw error
    }
  }

  work() {
    this.before = async () => {}
  }

  async advance(name, by, init, durable) {
    this.calls.push([by, init])
    this.durable = durable
    await this.before(by, init)
    const isSkip = by === 0n && init !== undefined
    const known = this.values.get(name)
    if (known === undefined && init === undefined) throw counterError('gone', name)
    const value = known === undefined || (isSkip && init > known) ? init : known
    if (value + by > LAST + 1n) throw counterError('full', name, value)
    this.values.set(name, value + by)
    return { number: value, lineage: this.lineage }
  }
}

export const NAME = 'invoices'

export async function opened(t, options = {}, store = new Counters()) {
  const segment = await SegmentId.open(store, { name: NAME, ...options })
  t.teardown(() => segment.close())
  return { segment, store }
}

export const take = (segment, n) => outcomes(n, () => segment.nextBigInt())
export const range = (from, n) => Array.from({ length: n }, (_, i) => BigInt(from + i))
