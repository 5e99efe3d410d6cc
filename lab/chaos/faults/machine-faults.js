'use strict'

// Faults of the machine of a server that leads, and of the server on it, while members still reach both. The servers
// decide what follows: another one is promoted, and the old one comes back.

const { spawnSync } = require('node:child_process')
const { setTimeout: sleep } = require('node:timers/promises')

/** A replica's confirmation before the first harm still counts as fresh after the second. */
const BETWEEN_HARMS_MS = 1000

/**
 * @typedef {{ machine: object, server: { pid: number } }} Place a machine of faults/network.js and the server on it
 *
 * @typedef {object} MachineFault
 * @property {(place: Place) => Promise<void>} harm
 * @property {(place: Place) => Promise<void>} [wake] the server resumes and is still cut off: all it knows of the
 *   others is old
 * @property {(place: Place) => Promise<void>} heal ends the rest of the harm
 */

/** A server's processes: the first one and its children. */
function processesOf({ server }) {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(server.pid)], { encoding: 'utf8' })
  return [server.pid, ...stdout.split('\n').filter(Boolean).map(Number)]
}

/** One of the processes may have ended meanwhile. */
function signalAll(place, signal) {
  for (const pid of processesOf(place)) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
  }
}

const freeze = async (place) => signalAll(place, 'SIGSTOP')
const wake = async (place) => signalAll(place, 'SIGCONT')
const cutOff = ({ machine }) => machine.cutOff()
const heal = ({ machine }) => machine.heal()
const someTime = () => sleep(Math.random() * BETWEEN_HARMS_MS)

/** The server reaches no other one: if it is a primary, it is in the minority. */
const SPLIT = { harm: cutOff, heal }

/** Only the server is paused, as in a long command: messages from others meanwhile are not lost. */
const FROZEN = { harm: freeze, heal: wake }

/** Two harms, one some time after the other. */
const inTurn = (first, second) => ({
  async harm(place) {
    await first(place)
    await someTime()
    await second(place)
  },
  wake,
  heal,
})

const FROZEN_THEN_CUT = inTurn(freeze, cutOff)

/** Some writes already wait for a replica when the server freezes. */
const CUT_THEN_FROZEN = inTurn(cutOff, freeze)

/** Ends a fault, and with it the time in which the old primary may still believe that it leads. */
async function endFault(place, fault, { awayMs, awakeMs }) {
  await sleep(awayMs)
  if (fault.wake !== undefined) {
    await fault.wake(place)
    await sleep(awakeMs)
  }
  await fault.heal(place)
}

module.exports = { CUT_THEN_FROZEN, FROZEN, FROZEN_THEN_CUT, SPLIT, endFault }
