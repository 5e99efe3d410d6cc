// Checks that a process which is suspended in the middle of its calls does no harm: it overwrites nothing when it continues,
// an unfinished read is an error, and meanwhile others can work. It is suspended after the first, the second … answer of the
// server, wherever that is.

import { Finding, show } from '../finding.ts'
import { slotName } from '../slot-name.ts'
import { sleep } from '../time.ts'
import type { Check, Trial } from '../trial.ts'

type Contested = { name: string; from: string; theirs: string; ours: string }

/** After this many answers. A swap with a lock, a read, a write and an unlock has four. */
const STEPS = [1, 2, 3, 4]

/** Between two attempts to swap a record that a suspended process may have locked. */
const AGAIN_MS = 20

async function suspended(trial: Trial) {
  const group = trial.group('suspended')
  const [other] = trial.clients
  const kept = trial.text()
  await trial.change(other, group, 'counter', null, kept)
  const records = STEPS.map((n) => ({
    name: slotName(n),
    from: trial.text(),
    theirs: trial.text(),
    ours: trial.text(),
  }))
  await trial.make(other, group, Object.fromEntries(records.map(({ name, from }) => [name, from])))
  const identity = await other.identity(group)
  const clients = await Promise.all(STEPS.map(() => trial.newClient()))
  const halts = clients.map((client, i) => {
    const { name, from, theirs } = records[i]
    return client.halt(
      STEPS[i],
      { read: [group, ['counter']], swap: [group, name, from, theirs, identity] },
      trial.size.haltMs,
    )
  })
  await Promise.all(halts.map(({ begun }) => begun))
  let isOver = false
  const ended = Promise.all(halts.map(({ answers }) => answers)).finally(() => {
    isOver = true
  })
  const swapped = records.map(async ({ name, from, ours }) => {
    let isDone = false
    for (; !isDone && !isOver; await sleep(AGAIN_MS)) {
      isDone = await other.swap(group, name, from, ours).catch(() => false) // it may be locked
    }
    return isDone
  })
  const [all, ours, free] = await Promise.all([ended, Promise.all(swapped), useAnother(trial, group, () => isOver)])
  for (const [i, { read, swap }] of all.entries()) {
    checkRead(read, kept)
    const seen = await other.value(group, records[i].name)
    checkSwap(records[i], seen, swap === true, ours[i])
    trial.note(group, records[i].name, seen)
  }
  await Promise.all(clients.map(({ process }) => process.kill()))
  return `${STEPS.length} processes were suspended for ${trial.size.haltMs / 1000} s and then overwrote nothing; meanwhile others made ${free} swaps`
}

/** Swaps another record of the group, in a loop, which no suspended process may block. */
async function useAnother(trial: Trial, group: string, isOver: () => boolean) {
  const [client] = trial.clients
  let text: string | null = null
  let swaps = 0
  try {
    for (; !isOver() || swaps === 0; swaps++) {
      const to = trial.text()
      await trial.change(client, group, 'group', text, to)
      text = to
      await sleep(AGAIN_MS)
    }
  } catch (error) {
    const { message } = error as Error
    throw new Finding(
      `while processes were suspended in the middle of swaps, a swap of another record failed: ${message}`,
      'true: no other process uses that record',
      'hold no lock from one call to the next; compare and write in one statement, script or transaction of the server',
    )
  }
  return swaps
}

/** @param answer to the read of the suspended process, or undefined if it failed */
function checkRead(answer: unknown, wanted: string) {
  if (answer === undefined) return
  const { values } = (answer ?? {}) as { values?: unknown[] }
  if (values?.[0] === wanted) return
  throw new Finding(
    `a read in a process that had been suspended returned ${show(values?.[0])} for a record that is ${show(wanted)}`,
    'the present record, or an error',
    'let a read that failed or came too late throw; never return null or an earlier value instead of an answer',
  )
}

/**
 * @param isTheirs whether the suspended process was answered true
 * @param isOurs whether the other one was
 */
function checkSwap({ from, theirs, ours }: Contested, seen: string | null, isTheirs: boolean, isOurs: boolean) {
  const wanted = isOurs ? ours : theirs
  if (!isOurs && !isTheirs) return
  if (!(isOurs && isTheirs) && seen === wanted) return
  const how =
    isOurs && isTheirs ? 'were both answered true' : `left ${show(seen)} where ${show(wanted)} was answered true`
  throw new Finding(
    `two swaps from one text (${show(from)}), one of a process that was suspended in the middle of it, ${how}`,
    'true for one of them, and its text in the record',
    'compare and write in one statement, script or transaction of the server; a lock that expires does not protect a suspended client',
  )
}

export default [{ name: 'suspended', run: suspended }] satisfies Check[]
