// Whether a promoted replica will have a write on a Redis with replicas: enough of them must have acknowledged it.
//
// INFO's counts are not proof, because a primary whose machine stood still wakes up with outdated ones. The proof is the
// offset that a replica acknowledged: once it has reached the primary's position after the write, the replica has the write.
// Replicas report it once per second, or at once if WAIT asks them. The answer of WAIT itself is about its connection's last
// write, and a client may have another connection by then, so only the offsets count.

import { passing, storeError, warnOfOpenBound } from '../../../base/errors.ts'
import { monotonicNow, sleep } from '../../../base/timers.ts'
import { BUDGET } from '../../time-budget.ts'
import type { Identity } from '../records.ts'
import type { Script, ScriptRunner } from './client.ts'

/** A completed write. `replicas`: the server's number of replicas; `isNeeded`: by min-replicas-to-write. */
type Write = Identity & { keys: string[]; replicas: number; isNeeded: boolean }

/** WAIT for more replicas than exist asks all of them, whatever its connection wrote last. */
const ALL = 1_000_000

export class Acknowledgements {
  #client
  #offsets
  #demands = new Map<string, number>() // min-replicas-to-write, by the process that has it

  /** @param offsets the script that returns the replicas' positions */
  constructor(client: ScriptRunner, offsets: Script) {
    this.#client = client
    this.#offsets = offsets
  }

  /**
   * Waits until the required number of replicas have acknowledged the write. Throws if they do not, because the write may
   * then be lost.
   */
  async until(write: Write, signal?: AbortSignal) {
    if (!write.isNeeded) {
      if (write.replicas > 0) warnOfNoDemand()
      return
    }
    const demand = await this.#demandOf(write)
    const { replicas } = write
    if (demand > 0 && demand < majorityOf(replicas)) warnOfMinority()
    await this.#reach(write, Math.max(demand, majorityOf(replicas)), signal)
  }

  /** min-replicas-to-write; 0 if the server does not show it. */
  async #demandOf({ process, keys }: Write) {
    const known = this.#demands.get(process)
    if (known !== undefined) return known
    const demand = Number(await this.#client.setting('min-replicas-to-write', keys[0])) || 0
    this.#demands.clear() // only the present server matters
    this.#demands.set(process, demand)
    return demand
  }

  async #reach(write: Write, needed: number, signal: AbortSignal | undefined) {
    const endsAt = monotonicNow() + BUDGET.ACKNOWLEDGEMENT_MS
    const replies = await this.#client.runAroundWait(this.#offsets, write.keys, needed, signal)
    const [{ at }, after] = replies.map((reply) => offsetsOf(reply, write))
    let { acknowledged } = after
    for (let pause = 1; countOf(acknowledged, at) < needed; pause = Math.min(pause * 2, BUDGET.SHORT_PAUSE_MS)) {
      if (monotonicNow() >= endsAt) throw unacknowledgedError(countOf(acknowledged, at), needed)
      if (pause === 2) this.#client.askReplicas(write.keys[0], ALL) // the first WAIT may have used another connection
      await sleep(pause)
      const reply = await this.#client.run(this.#offsets, write.keys, [], signal)
      acknowledged = offsetsOf(reply, write).acknowledged
    }
  }
}

/** The primary's position, and each replica's as last reported. Throws if a server other than the writer answers. */
function offsetsOf([process, history, ...offsets]: (string | null)[], write: Write) {
  if (process !== write.process || history !== write.history) {
    throw passing(
      storeError('Another Redis answered before the replicas acknowledged a write, so the write may be lost.'),
    )
  }
  const [at, ...acknowledged] = offsets.map(Number)
  return { at, acknowledged }
}

const countOf = (acknowledged: number[], at: number) => acknowledged.filter((offset) => offset >= at).length

/** How many replicas form, with their primary, more than half of the servers: 1 of 2, 2 of 3, 2 of 4. */
const majorityOf = (replicas: number) => Math.max(1, Math.ceil(replicas / 2))

const unacknowledgedError = (count: number, needed: number) =>
  passing(
    storeError(
      `Redis wrote a record, but ${count} instead of ${needed} replicas acknowledged it within ${BUDGET.ACKNOWLEDGEMENT_MS} ms, so a promotion may lose it. Check that its replicas follow it, and that it was not replaced by another primary.`,
    ),
  )

const warnOfNoDemand = () =>
  warnOfOpenBound(
    'This Redis has replicas and min-replicas-to-write 0, so a primary that was replaced can still acknowledge writes, and two members may get the same slot.',
    'Set min-replicas-to-write on every server, also on every node of a cluster, to at least half of the replicas.',
  )

const warnOfMinority = () =>
  warnOfOpenBound(
    'This Redis demands fewer than half of the replicas (min-replicas-to-write), so a primary that was cut off together with them can still acknowledge writes, and two members may get the same slot.',
    'Set min-replicas-to-write on every server, also on every node of a cluster, to at least half of the replicas.',
  )
