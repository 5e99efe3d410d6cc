// Reads and swaps records on etcd, each in one transaction. Reads are linearizable, never `serializable` from one member
// alone. Keys have no etcd lease: a record that expires would lose the end of a window.

import type { Records, StoreIdentity } from '../records.ts'
import { BUDGET } from '../time-budget.ts'
import type { Gateway } from './gateway.ts'
import { endOf, groupOf, groupPrefix, nameOf, RECORDS, recordKey } from './keys.ts'
import { holds, isAbsent, put, readFirstKey, readKeys, readRun } from './requests.ts'

/** Consecutive names: the first and the last. */
type NameRun = [string, string]

const SLOT = /^slot(\d{10})$/

/** Whether this name is the slot after that one. */
function isNext(name: string, previous: string) {
  const [slot, before] = [SLOT.exec(name), SLOT.exec(previous)]
  return slot !== null && before !== null && Number(slot[1]) === Number(before[1]) + 1
}

/** etcd accepts 128 ranges in a transaction by default. */
const MOST_RUNS = 100

/**
 * The names as runs `[first, last]` of consecutive slots; any other name is a separate run. A search asks for some single
 * slots and one run of up to 1,024.
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
 * Fewer and longer runs, for a listing: it asks for all slots that have a record, so hardly any other record lies between
 * them. Those that do are read and dropped.
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
   * etcd's revision, which only grows: a member that was wiped, or a snapshot that was restored under the old token, keeps
   * the ID of the cluster, and only a lower revision shows the loss.
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
   * Every answer of etcd is clean: it answers once a majority has the write on disk.
   *
   * etcd compares the value, but cannot compare the ID of the cluster. So a swap that reaches another cluster, such as a
   * restored one, may be written there, and the answer is false. That is safe because the answer of a step never comes from
   * its swap, only from a later read: the identity of that read differs, so it does not count.
   *
   * The gateway may send a swap to a second member after the first one failed, although the first may have carried it out, or
   * may still do so. That is safe because no text is ever written twice. Once `from` has been replaced, it never comes back,
   * so only one of the two is carried out. If it was the first, the second answers false, which means "perhaps written". (In
   * a cluster that lost all its records, a late swap from null can write, as it could without the second attempt.)
   */
  async swap(
    group: string,
    name: string,
    from: string | null,
    to: string,
    { history, process }: StoreIdentity,
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

  get server() {
    return this.#gateway.endpoints.join(', ')
  }

  /** The keys are the same for every user and endpoint, so the place needs no request to the server. */
  async place() {
    return `${this.#gateway.endpoints.join(', ')}, keys ${RECORDS}…`
  }

  /** There is nothing to end: `fetch` closes unused connections. */
  async close() {}

  /**
   * Any etcd may be durable: it answers a write once a majority has it on disk. Clients cannot see the option that turns this
   * off (`--unsafe-no-fsync`, for tests), so users of `durable` vouch for that.
   */
  async checkDurable() {}
}
