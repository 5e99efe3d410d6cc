// When a write counts on a Redis with replicas: enough of them must have acknowledged it. That makes it likely that a
// promoted one has it. It is no proof: replicas are counted, so two primaries may both have enough, each its own.
//
// INFO's counts are not proof, because a primary whose machine stood still wakes up with outdated ones. The proof is the
// offset that a replica acknowledged: once it has reached the primary's position after the write, the replica has the write.
// Replicas report it once per second, or at once if WAIT asks them. The answer of WAIT itself is about its connection's last
// write, and a client may have another connection by then, so only the offsets count.

import { passing, storeError, warnOfReplicas } from '../../base/errors.ts'
import { monotonicNow, sleep } from '../../base/timers.ts'
import type { StoreIdentity } from '../records.ts'
import { BUDGET } from '../time-budget.ts'
import type { Script, ScriptRunner } from './client.ts'

/** A completed write. `replicas`: the server's number of replicas; `isNeeded`: by min-replicas-to-write. */
type Write = StoreIdentity & { keys: string[]; replicas: number; isNeeded: boolean }

/** WAIT for more replicas than exist asks all of them, whatever its connection wrote last. */
const ALL = 1_000_000

/**
 * The settings that matter, as the server shows them: min-replicas-to-write, and whether a cluster gives this server replicas
 * of other primaries. NaN and false if it shows none.
 */
type Settings = { process: string; readAt: number; demand: number; isMigrating: boolean }

export class Acknowledgements {
  #client
  #offsets
  #settings: Settings | undefined // of the server that was last written to

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
    const { replicas, isNeeded } = write
    if (replicas === 0 && !isNeeded) return
    const { demand, isMigrating } = await this.#settingsOf(write)
    if (replicas > 0) warnOfReplicas('Redis', missingOf(replicas, isNeeded ? demand : 0, isMigrating))
    if (isNeeded) await this.#reach(write, Math.max(demand || 0, majorityOf(replicas)), signal)
  }

  async #settingsOf({ process, keys: [key] }: Write) {
    const known = this.#settings
    if (known?.process === process && monotonicNow() - known.readAt < BUDGET.SETTINGS_LAST_MS) return known
    const [demand, cluster, migration] = await Promise.all(SETTINGS.map((name) => this.#client.setting(name, key)))
    const isMigrating = cluster === 'yes' && migration !== 'no'
    this.#settings = { process, readAt: monotonicNow(), demand: Number(demand ?? NaN), isMigrating }
    return this.#settings
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

const SETTINGS = ['min-replicas-to-write', 'cluster-enabled', 'cluster-allow-replica-migration']

const ALL_REPLICAS = 'min-replicas-to-write = the number of replicas, on every server that may be promoted'

/** The settings that a server with this many replicas lacks. @param demand NaN if it is hidden */
function missingOf(replicas: number, demand: number, isMigrating: boolean) {
  const missing: string[] = []
  if (Number.isNaN(demand)) missing.push(`${ALL_REPLICAS} (the server hides it from this user: CONFIG GET is refused)`)
  else if (demand < replicas) missing.push(`${ALL_REPLICAS} (it is ${demand})`)
  if (isMigrating) missing.push('cluster-allow-replica-migration = no, on every node (Redis 7 and newer)')
  return missing
}
