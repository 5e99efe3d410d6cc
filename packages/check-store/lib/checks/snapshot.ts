// Checks that a read is one snapshot, and that its `now` is not older than it.

import { Finding } from '../finding.ts'
import { slotName } from '../slot-name.ts'
import type { Check, Trial } from '../trial.ts'

/** Records that are always written in this order. The first two matter most: a slot is granted by its group's record. */
const NAMES = ['group', slotName(0), slotName(1)]
const REVERSED = NAMES.toReversed()
const RUN = Array.from({ length: 1100 - NAMES.length }, (_, i) => slotName(i + NAMES.length))
const LISTS = [
  NAMES,
  REVERSED,
  [NAMES[0], NAMES[1], ...RUN, NAMES[2]],
  [REVERSED[0], ...RUN, REVERSED[1], REVERSED[2]],
  ['group', slotName(0), slotName(1), ...RUN.slice(0, 30)],
]
/** How much older than the snapshot `now` may appear, because servers' clocks differ and some have whole seconds only. */
const [SLACK_MS, SECOND_MS] = [2000, 1000]
/**
 * How long a reader is suspended between two of its questions, whose answers are then this far apart. It must be enough for
 * several swaps, which take about as long as a read.
 */
const haltMsFor = (readMs: number) => Math.round(Math.min(500, Math.max(50, readMs * 10)))

/** One process writes records in their order, in a loop; the others read them, first as fast as they can. */
async function snapshots(trial: Trial) {
  const group = trial.group('snapshot')
  await trial.make(trial.clients[0], group, Object.fromEntries(NAMES.map((name) => [name, '0 0 start'])))
  const [writer, ...readers] = trial.clients
  const { snapshotMs, snapshotRounds: rounds, checkMs } = trial.size
  const writing = writer.work('writeInOrder', { group, names: NAMES }, checkMs)
  const work = { group, names: NAMES, lists: LISTS, rounds, ms: snapshotMs / 2 }
  const reading = readers.map(async (reader) => {
    const fast = await reader.work('readInOrder', { ...work, haltMs: 0 }, checkMs)
    const haltMs = haltMsFor(fast.readMs)
    return { fast, halting: await reader.work('readInOrder', { ...work, haltMs }, checkMs), haltMs }
  })
  const results = await Promise.all(reading).finally(() => writer.process.ask('endWriting'))
  const { written } = await writing
  const all = results.flatMap(({ fast, halting }) => [fast, halting])
  await noteAll(trial, group, NAMES)
  const [torn] = all.flatMap((result) => result.torn)
  if (torn !== undefined) {
    const [[first, n], [second, m]] = [torn.first, torn.second]
    throw new Finding(
      `a read of ${torn.names} names returned text ${m} of '${second}' with text ${n} of '${first}'; each text of '${first}' is written before that of '${second}' with its number, and the next after it`,
      'all values of a read as they were at one moment',
      'read all names in one transaction or script that sees one snapshot; if that has a limit, read twice until both are equal',
    )
  }
  for (const { fast, halting, haltMs } of results) checkBehind(fast.behindMs, halting.behindMs, haltMs)
  const reads = all.reduce((sum, result) => sum + result.reads, 0)
  return `${reads} reads of up to ${RUN.length + NAMES.length} names during ${written * NAMES.length} swaps`
}

/**
 * Clocks of several servers differ as much in fast reads as in others. A clock that is read before the records is older than
 * they are by as long as the reader was suspended in between.
 * @param fastMs by how much `now` was older than a record in fast reads
 * @param haltingMs the same for a reader that was suspended after each answer
 * @param haltMs for this long
 */
function checkBehind(fastMs: number, haltingMs: number, haltMs: number) {
  const behindMs = Math.max(fastMs, haltingMs)
  const isHalted = haltingMs - fastMs >= haltMs / 2 && haltingMs % SECOND_MS !== 0
  if (behindMs <= SLACK_MS && !isHalted) return
  const when = isHalted ? `, when its process was suspended for ${haltMs} ms after each answer of the server` : ''
  throw new Finding(
    `a read returned a now that is ${behindMs} ms older than a record in it${when}`,
    'the clock of the server as it is after the snapshot',
    'read the clock after the records, not before, and not that of the start of the transaction',
  )
}

async function noteAll(trial: Trial, group: string, names: string[]) {
  const values = await trial.clients[0].values(group, names)
  for (const [i, name] of names.entries()) trial.note(group, name, values[i])
}

export default [{ name: 'snapshots', run: snapshots }] satisfies Check[]
