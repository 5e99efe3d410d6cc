// Reads and swaps records on etcd: each is one transaction.
// It never reads from one member alone (`serializable`), and gives no key an etcd lease, because a record that expires
// would forget the end of a window.

import { BUDGET } from '../../time-budget.ts'
import type { Identity, Records } from '../records.ts'
import { endOf, groupOf, groupPrefix, nameOf, RECORDS, recordKey } from './keys.ts'
import { holds, isAbsent, put, readFirstKey, readKeys, readRun } from './requests.ts'

export type Gateway = InstanceType<typeof import('./gateway.ts').Gateway>

/** Consecutive names: the first and the last. */
type NameRun = [string, string]

const SLOT = /^slot(\d{10})$/

/** Whether this name is the slot after that one. */
function isNext(name: string, previous: string) {
  const [slot, before] = [SLOT.exec(name), SLOT.exec(previous)]
  return slot !== null && before !== null && Number(slot[1]) === Number(before[1]) + 1
}

/** etcd takes 128 ranges in a transaction, unless it was told to take fewer. */
const MOST_RUNS = 100

/**
 * The names as runs `[first, last]` of consecutive slots; any other name is a run of its own. A search asks for some
 * single slots and one run of up to 1 024.
 */
function runsOf(names: readonly string[]) {
  const runs: NameRun[] = []
  for (const name of [...new Set(names)].sort()) {
    const run = runs.at(-1)
    if (run !== undefined && isNext(name, run[1])) run[1] = name
    else runs.push([name, name])
  }
  return runs.length > MOST_RUNS ? joined(runs) : runs
}

/**
 * Fewer and longer runs, for a listing, which asks for all slots that have a record: so hardly another record lies between
 * them. What does is read and not used.
 */
function joined(runs: NameRun[]): NameRun[] {
  const size = Math.ceil(runs.length / MOST_RUNS)
  return Array.from({ length: Math.ceil(runs.length / size) }, (_, i) => {
    const part = runs.slice(i * size, (i + 1) * size)
    return [part[0][0], part[part.length - 1][1]]
  })
}

export class EtcdRecords implements Records {
  /** `now` is rounded down by up to this many ms. */
  clockStepMs = BUDGET.ETCD_CLOCK_STEP_MS
  #gateway

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /**
   * One snapshot. etcd asks a majority before it answers, so it shows every swap that was answered before. `position` is
   * etcd's revision, which only grows: a member that was wiped, or a snapshot that was restored under the old token,
   * keeps the ID of the cluster, and only a lower revision shows the loss.
   */
  async read(group: string, names: readonly string[], signal?: AbortSignal) {
    const key = (name: string) => recordKey(group, name)
    const success = runsOf(names).map(([first, last]) => readRun(key(first), key(last)))
    const { lists, now, cluster, revision } = await this.#gateway.txn({ success }, signal)
    const found = new Map(lists.flat().map((record) => [record.key, record.value]))
    const values = names.map((name) => found.get(key(name)) ?? null)
    return { now, identity: { history: cluster, process: '' }, values, position: revision }
  }

  /**
   * Any answer of etcd is clean: it answers once a majority has the write on disk.
   *
   * etcd compares the value, but cannot compare the ID of the cluster. So a swap that reaches another cluster, such as a
   * restored one, may be written there, and the answer is false. That is safe because no step is answered from its swap,
   * only from a later read: the identity of that read is another one, so it does not count as the answer.
   *
   * The gateway may send a swap to a second member after the first one failed, although the first may have carried it
   * out, or may still do so. That is safe because no text is ever written twice. Once `from` has been replaced, it never
   * comes back, so of the two only one is carried out. If it was the first, the second answers false, which means
   * "perhaps written". (In a cluster that lost all its records, a late swap from null can write. It would do so without
   * the second try too.)
   */
  async swap(
    group: string,
    name: string,
    from: string | null,
    to: string,
    { history, process }: Identity,
    signal?: AbortSignal,
  ) {
    const key = recordKey(group, name)
    const compare = [from === null ? isAbsent(key) : holds(key, from)]
    const { isDone, cluster } = await this.#gateway.txn({ compare, success: [put(key, to)] }, signal)
    return isDone && history === cluster && process === ''
  }

  async names(group: string, signal?: AbortSignal) {
    const prefix = groupPrefix(group)
    const { lists } = await this.#gateway.txn({ success: [readKeys(prefix, endOf(prefix))] }, signal)
    return lists[0].map(({ key }) => nameOf(key))
  }

  /** One call for each group, because reading all keys could mean reading thousands of slots. */
  async groups() {
    const found = []
    for (let from = RECORDS; ; ) {
      const { lists } = await this.#gateway.txn({ success: [readFirstKey(from, endOf(RECORDS))] })
      const [first] = lists[0]
      if (first === undefined) return found
      const group = groupOf(first.key)
      found.push(group)
      from = endOf(groupPrefix(group))
    }
  }

  /** The keys are the same whatever the user or the endpoint, so the place needs no look at the server. */
  async place() {
    return `${this.#gateway.endpoints.join(', ')}, keys ${RECORDS}…`
  }

  /** There is nothing to end: `fetch` closes connections that are no longer used. */
  async close() {}

  /**
   * Any etcd may be durable: it answers a write once a majority has it on disk. The option that turns this off
   * (`--unsafe-no-fsync`, for tests) cannot be seen by clients, so whoever sets `durable` vouches for that.
   */
  async checkDurable() {}
}
