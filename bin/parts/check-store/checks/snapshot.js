'use strict'
// @ts-check

// That a read is one snapshot, and that its `now` is not older than it.

/** @import { Check, Trial } from '../trial.js' */

const { Finding } = require('../finding.js')
const { slotName } = require('../slot-name.js')

const RUN = Array.from({ length: 1024 }, (_, i) => slotName(i + 2))
/** How much older than the snapshot `now` may look, because servers' clocks differ and some give whole seconds only. */
const SLACK_MS = 2000

/**
 * One process writes two records in their order, again and again; the others read both.
 * @param {Trial} trial
 */
async function snapshots(trial) {
  const group = trial.group('snapshot')
  const names = [slotName(0), slotName(1)]
  await trial.make(trial.clients[0], group, Object.fromEntries(names.map((name) => [name, '0 0 start'])))
  const [writer, ...readers] = trial.clients
  const [first, second] = names
  const lists = [names, [second, first], [first, ...RUN, second], [second, ...RUN, first]]
  const { snapshotMs: ms, snapshotRounds: rounds } = trial.size
  const { checkMs } = trial.size
  const writing = writer.work('writeInOrder', { group, names, ms, rounds }, checkMs)
  const reading = readers.map((reader) => reader.work('readInOrder', { group, names, lists, ms, rounds }, checkMs))
  const [{ written }, results] = await Promise.all([writing, Promise.all(reading)])
  const [torn] = results.flatMap((result) => result.torn)
  if (torn !== undefined) {
    throw new Finding(
      `a read of ${torn.names} names gave swap ${torn.second} of the second record with swap ${torn.first} of the first, which is always written before`,
      'all values of a read as they were at one moment',
      'read all names in one transaction or script that sees one snapshot; if that has a limit, read twice until both are equal',
    )
  }
  const behindMs = Math.max(...results.map((result) => result.behindMs))
  if (behindMs > SLACK_MS) {
    throw new Finding(
      `a read gave a now that is ${behindMs} ms older than a record that it shows`,
      'the clock of the server as it is after the snapshot',
      'read the clock after the records, not before, and not that of the start of the transaction',
    )
  }
  await noteAll(trial, group, names)
  const reads = results.reduce((sum, result) => sum + result.reads, 0)
  return `${reads} reads of up to ${RUN.length + 2} names during ${written * 2} swaps`
}

/**
 * @param {Trial} trial
 * @param {string} group
 * @param {string[]} names
 */
async function noteAll(trial, group, names) {
  const values = await trial.clients[0].values(group, names)
  for (const [i, name] of names.entries()) trial.note(group, name, values[i])
}

/** @type {Check[]} */
module.exports = [{ name: 'snapshots', run: snapshots }]
