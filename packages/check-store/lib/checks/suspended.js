'use strict'
// @ts-check

// That a process which is suspended in the middle of its calls harms nobody: it writes over nothing when it goes on, what
// it could not read is an error, and meanwhile others can work. It is stopped after the first, the second … answer of the
// server, wherever that is.

/** @import { Check, Trial } from '../trial.js' */

/** @typedef {{ name: string, from: string, theirs: string, ours: string }} Contested */

const { sleep } = require('../time.js')
const { Finding, show } = require('../finding.js')
const { slotName } = require('../slot-name.js')

/** After so many answers. A swap with a lock, a read, a write and an unlock has four. */
const STEPS = [1, 2, 3, 4]

/** Between two tries to swap what a suspended process may have locked. */
const AGAIN_MS = 20

/** @param {Trial} trial */
async function suspended(trial) {
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
  return `${STEPS.length} processes stood still for ${trial.size.haltMs / 1000} s and then wrote over nothing; ${free} swaps of others went on`
}

/**
 * Swaps another record of the group, again and again, which no suspended process may hinder.
 * @param {Trial} trial
 * @param {string} group
 * @param {() => boolean} isOver
 */
async function useAnother(trial, group, isOver) {
  const [client] = trial.clients
  /** @type {string | null} */
  let text = null
  let swaps = 0
  try {
    for (; !isOver() || swaps === 0; swaps++) {
      const to = trial.text()
      await trial.change(client, group, 'group', text, to)
      text = to
      await sleep(AGAIN_MS)
    }
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new Finding(
      `while processes stood still in the middle of swaps, a swap of another record failed: ${message}`,
      'true: nobody uses that record',
      'hold no lock from one call to the next; compare and write in one statement, script or transaction of the server',
    )
  }
  return swaps
}

/**
 * @param {unknown} answer what the read of a process that stood still gave, or undefined if it failed
 * @param {string} wanted
 */
function checkRead(answer, wanted) {
  if (answer === undefined) return
  const { values } = /** @type {{ values?: unknown[] }} */ (answer ?? {})
  if (values?.[0] === wanted) return
  throw new Finding(
    `a read in a process that had stood still gave ${show(values?.[0])} for a record that is ${show(wanted)}`,
    'what the record is, or an error',
    'let a read that failed or came too late throw; never give null, or what was read before, instead of an answer',
  )
}

/**
 * @param {Contested} record
 * @param {string | null} seen
 * @param {boolean} isTheirs whether the process that stood still was answered true
 * @param {boolean} isOurs whether the other one was
 */
function checkSwap({ from, theirs, ours }, seen, isTheirs, isOurs) {
  const wanted = isOurs ? ours : theirs
  if (!isOurs && !isTheirs) return
  if (!(isOurs && isTheirs) && seen === wanted) return
  const how =
    isOurs && isTheirs ? 'were both answered true' : `left ${show(seen)} where ${show(wanted)} was answered true`
  throw new Finding(
    `two swaps from one text (${show(from)}), one of a process that stood still in the middle of it, ${how}`,
    'true for one of them, and its text in the record',
    'compare and write in one statement, script or transaction of the server; a lock that expires does not protect a client that stands still',
  )
}

/** @type {Check[]} */
module.exports = [{ name: 'suspended', run: suspended }]
