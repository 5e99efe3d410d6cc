'use strict'

// Runs a scenario: starts its members, triggers faults of each of them, ends them, and has their IDs checked. It knows
// neither what the members do, nor what a fault is.

const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { check } = require('../outcome/check.js')
const { pick, strike } = require('../faults/fault.js')
const { Gaps } = require('./gaps.js')
const { MemberProcess } = require('./member-process.js')
const { Hangs } = require('./hangs.js')

const LOOK_MS = 10
const LONGEST_FIRST_ID_MS = 1500 // a member whose clock was set back may have to wait longer than this
const BETWEEN_FAULTS_MS = 700

/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {number} [seconds] its duration; default its share of the run
 * @property {() => Promise<object>} [start] starts what this scenario needs and is not running yet. Resolves to the rest of
 *   the scenario, and to `end`, which ends it all
 * @property {object[][]} members for each member the tasks of its threads, see member/maker.js
 * @property {object[]} faults the possible faults of a member, see faults/fault.js
 * @property {boolean} [isOneCursor] the IDs of a member ascend through all its lives, not just within each
 * @property {boolean} [isInOrder] whether IDs ascend at all; default true
 * @property {() => number} [offsetMs] how far off a member's clock is in its next life
 * @property {object[]} [proxies] each member's proxy to the server, see faults/tcp-proxy.js
 * @property {number} [betweenMs] the longest time between two faults of a member
 * @property {(run: { until: number, counts: object, troubles: object[], members: MemberProcess[] }) => Promise<void>}
 *   [outages] faults of what all members use
 * @property {number} [recoverMs] how soon after the last fault there must be IDs again
 * @property {number} [hangMs] how long a member may be without an ID before it counts as hanging
 * @property {(member: MemberProcess, i: number) => boolean} [isHindered] whether a member may have to wait because of a
 *   fault that is not its own
 * @property {number} [firstIdMs] how long most faults wait for a member's first ID
 * @property {(run: { counts: object, members: MemberProcess[], troubles: object[] }) => boolean} [isEnough] the run
 *   continues until this holds, however long
 */

/**
 * Runs a scenario for at least this many seconds, with the members' files in `folder`, and returns what happened.
 * @param {Scenario} scenario
 */
async function run({ start, ...scenario }, about) {
  const { end, ...started } = (await start?.()) ?? {}
  try {
    return await runStarted({ ...scenario, ...started }, about)
  } finally {
    await end?.()
  }
}

async function runStarted(scenario, { folder, seconds }) {
  const files = fs.mkdtempSync(path.join(folder, 'ids-'))
  const happened = { counts: {}, troubles: [] }
  const members = membersOf(scenario, files, happened.troubles)
  const start = performance.now()
  const gaps = await liveAll(members, scenario, { seconds, ...happened })
  const took = (performance.now() - start) / 1000
  const lives = members.reduce((sum, member) => sum + member.lives.length, 0)
  const found = check(sequencesOf(members, scenario.isOneCursor), scenario)
  fs.rmSync(files, { recursive: true })
  return { name: scenario.name, ...happened, seconds: took, lives, ...gaps, ...found }
}

const membersOf = (scenario, folder, troubles) =>
  scenario.members.map(
    (tasks, i) =>
      new MemberProcess({
        name: `member ${i + 1}`,
        folder,
        tasks,
        offsetMs: scenario.offsetMs,
        proxy: scenario.proxies?.[i],
        onTrouble: (trouble) => troubles.push(trouble),
      }),
  )

/** All members from their start to their end. Returns for each the longest times without an ID. */
async function liveAll(members, scenario, { seconds, counts, troubles }) {
  const { isEnough = () => true } = scenario
  const until = performance.now() + seconds * 1000
  let isCalm = scenario.outages === undefined
  let isDone = false // for all at once, whatever happens to a member then
  const isOver = () => {
    isDone ||= isCalm && performance.now() >= until && isEnough({ counts, members, troubles })
    return isDone
  }
  const hangs = new Hangs(members, scenario.hangMs, scenario.isHindered)
  const gaps = new Gaps(members, scenario.isHindered)
  try {
    for (const member of members) member.start()
    const lives = members.map((member) => live(member, scenario, { counts, isOver }))
    const noteTrouble = ({ message, cause }) => {
      troubles.push({ who: 'the server', what: cause === undefined ? message : `${message}: ${cause.message}` })
    }
    const outages = scenario
      .outages?.({ counts, until, troubles, members })
      .catch(noteTrouble) // the IDs are checked all the same
      .finally(() => {
        isCalm = true // until then members fail too
      })
    await Promise.all([...lives, outages])
    if (scenario.recoverMs !== undefined && !(await areThereNewIds(members, scenario.recoverMs)))
      troubles.push({ who: 'all members', what: `made no ID within ${scenario.recoverMs / 1000} s of the last fault` })
    gaps.end()
    await Promise.all(members.map((member) => member.end()))
    return { longestGaps: gaps.longest, unhinderedGaps: gaps.unhindered, gapErrors: gaps.errors }
  } finally {
    gaps.end()
    hangs.end()
    await Promise.all(members.map((member) => member.kill()))
  }
}

/** One fault after the other, as many as there is time for. */
async function live(member, scenario, { counts, isOver }) {
  for (;;) {
    await someMoment(member, scenario, isOver)
    if (isOver()) return
    const fault = pick(scenario.faults)
    if (fault === undefined) continue
    await strike(fault, { counts, victim: member })
  }
}

async function areThereNewIds(members, withinMs) {
  const sizes = () => members.map((member) => member.sizes.join()).join()
  const before = sizes()
  await waitWhile(() => sizes() === before, withinMs)
  return sizes() !== before
}

/** Waits for a random moment of the member's life: mostly while it generates IDs, sometimes while it starts. */
async function someMoment(member, scenario, isOver) {
  const { betweenMs = BETWEEN_FAULTS_MS, firstIdMs = LONGEST_FIRST_ID_MS } = scenario
  const isAmidst = Math.random() < 0.8
  if (isAmidst) await waitWhile(() => isStarting(member) && !isOver(), firstIdMs)
  await waitWhile(() => !isOver(), Math.random() * betweenMs)
}

async function waitWhile(isSo, longestMs) {
  for (const until = performance.now() + longestMs; isSo() && performance.now() < until; ) await sleep(LOOK_MS)
}

const isStarting = (member) => member.isRunning && member.sizes.some((size) => size === 0)

/**
 * The files in which IDs must ascend from one to the next: those of one thread, in one of its lives or in all of them.
 */
function sequencesOf(members, isOneCursor) {
  if (!isOneCursor) return members.flatMap(({ lives }) => lives.flatMap(({ files }) => files.map((file) => [file])))
  return members.flatMap(({ lives }) => lives[0].files.map((_, thread) => lives.map(({ files }) => files[thread])))
}

module.exports = { run }
