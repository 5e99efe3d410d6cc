// Checks the clock of the server: its unit, that it is UTC, and that it keeps pace with time.

import { Finding } from '../finding.ts'
import type { Client } from '../process.ts'
import { monotonicNow, sleep, unixNow } from '../time.ts'
import type { Check, Trial } from '../trial.ts'

type Look = Awaited<ReturnType<typeof look>>

const MINUTE_MS = 60_000
const QUARTER_MS = 15 * MINUTE_MS // time zones differ by multiples of this
const STEP_MS = 30
/** How far a clock may be off between two reads, with ms, and with whole seconds only, as in an HTTP date. */
const [SLACK_MS, COARSE_SLACK_MS] = [250, 1000]
const COARSE_WAIT_MS = 2200
/** How far a client's machine sets its own clock ahead, to see whether that shows. */
const AHEAD_MS = 20_000

/** A time of the store, and when it was requested and answered by a monotonic clock. */
async function look(client: Client, group: string): Promise<{ now: number; asked: number; answered: number }> {
  const asked = monotonicNow()
  const { now } = await client.read(group, ['group'])
  return { now, asked, answered: monotonicNow() }
}

/** @param offMs how far the store is ahead of this machine */
function checkZone(offMs: number) {
  if (Math.abs(offMs) <= MINUTE_MS) return
  const quarters = Math.round(offMs / QUARTER_MS)
  const isZone = quarters !== 0 && Math.abs(offMs - quarters * QUARTER_MS) <= MINUTE_MS
  const seen = `now is ${Math.round(Math.abs(offMs) / 1000)} s ${offMs > 0 ? 'ahead of' : 'behind'} this machine's clock`
  throw new Finding(
    isZone ? `${seen}, which looks like local time (UTC${quarters > 0 ? '+' : '-'}${Math.abs(quarters) / 4} h)` : seen,
    'less than a minute: Unix ms, which count in UTC',
    isZone ? 'read the clock in UTC' : 'set both clocks, for example with NTP, and read the clock of the server',
  )
}

/** Compares two times of the store with the time that passed between them. */
function checkPace(from: Look, to: Look, slackMs: number) {
  const passed = to.now - from.now
  const [least, most] = [to.asked - from.answered, to.answered - from.asked]
  if (passed >= least - slackMs && passed <= most + slackMs) return
  const isStuck = passed === 0
  throw new Finding(
    isStuck
      ? `now stays at ${to.now}`
      : `now went ${passed < 0 ? 'back' : 'forward'} by ${Math.abs(passed)} ms while ${Math.round(least)} ms passed`,
    'a clock that keeps pace with time',
    'ask the server for its clock in every read; do not cache it, and do not use the start of a transaction',
  )
}

/** Checks times that this many clients have read in turn. */
function checkAll(looks: Look[], clients: number, slackMs: number) {
  for (const [i, later] of looks.entries()) {
    // Several servers may differ a little. One client should see an exact clock.
    if (i > 0) checkPace(looks[i - 1], later, COARSE_SLACK_MS)
    const first = looks[i % clients]
    if (later.asked - first.answered > slackMs * 2) checkPace(first, later, slackMs)
  }
}

/** Sets the clock of the client's own machine, which may be wrong: the server's must not change. */
async function checkOwn(trial: Trial, group: string) {
  const client = await trial.newClient('elsewhere')
  const before = await look(client, group)
  await client.process.ask('setAhead', [AHEAD_MS])
  const after = await look(client, group)
  await client.process.kill()
  const [passed, took] = [after.now - before.now, Math.round(after.answered - before.asked)]
  if (passed - took < AHEAD_MS / 2) return
  throw new Finding(
    `now went forward by ${passed} ms in ${took} ms, when the clock of the client's machine was set ahead by ${AHEAD_MS} ms`,
    "the clock of the server, whatever the client's own clock is",
    'ask the server for its clock in every read, and do not extrapolate from it',
  )
}

async function clock(trial: Trial) {
  const group = trial.group('clock')
  const before = unixNow()
  const first = await look(trial.clients[0], group)
  const after = unixNow()
  const offMs = first.now < before ? first.now - before : Math.max(0, first.now - after)
  checkZone(offMs)
  const looks = [first]
  const isCoarse = () => looks.every(({ now }) => now % 1000 === first.now % 1000) // perhaps rounded up, to …999
  const passed = () => monotonicNow() - first.answered
  while (passed() < trial.size.clockMs || (isCoarse() && passed() < COARSE_WAIT_MS)) {
    await sleep(STEP_MS)
    looks.push(await look(trial.clients[looks.length % trial.clients.length], group))
  }
  const slackMs = isCoarse() ? COARSE_SLACK_MS : SLACK_MS
  checkAll(looks, trial.clients.length, slackMs)
  checkPace(first, await look(trial.clients[0], group), slackMs) // on a busy machine there may have been few looks
  await checkOwn(trial, group)
  return `within ${Math.ceil(Math.abs(offMs) / 1000)} s of this machine's clock${isCoarse() ? ', in whole seconds' : ''}`
}

export default [{ name: 'clock', run: clock }] satisfies Check[]
