// Checks that swap is one atomic step, with many clients in several processes at one record.

import { Finding, show } from '../finding.ts'
import type { Process } from '../process.ts'
import { slotName } from '../slot-name.ts'
import { monotonicNow } from '../time.ts'
import type { Check, Trial } from '../trial.ts'
import type { Failure, WorkName, Works } from '../works.ts'

/** clients of one process */
type Team = { process: Process; handles: number[] }

const TODO = 'compare and write in one statement, script or transaction of the server, not with a read before it'

/** The clients of the race, distributed over the processes. */
async function openClients(trial: Trial): Promise<Team[]> {
  const { processes, clients } = trial.size
  const counts = trial.processes.map((_, i) => Math.ceil((clients - i) / processes))
  return Promise.all(
    trial.processes.map(async (process, i) => {
      const opened = await Promise.all(Array.from({ length: counts[i] }, () => process.open()))
      return { process, handles: opened.map(({ handle }) => handle) }
    }),
  )
}

/**
 * Does the same work in all processes at once.
 * @param ms how long it may take
 */
const everywhere = <N extends WorkName>(teams: Team[], ms: number, name: N, options: Parameters<Works[N]>[1]) =>
  Promise.all(teams.map(({ process, handles }) => process.work(name, handles, options, ms)))

/** Many create one record at once: only one may succeed. */
async function claims(trial: Trial, teams: Team[]) {
  const group = trial.group('claims')
  const identity = await trial.clients[0].identity(group)
  const end = monotonicNow() + trial.size.raceMs
  for (let i = 0; i < trial.size.claims && (i === 0 || monotonicNow() < end); i++) {
    const name = slotName(i)
    const winners = (await everywhere(teams, 0, 'claim', { group, name, identity })).flat()
    const seen = await trial.clients[0].value(group, name)
    if (winners.length === 1 && seen === winners[0]) trial.note(group, name, seen)
    if (winners.length > 1) {
      throw new Finding(
        `${winners.length} of ${trial.size.clients} clients created one absent record and were all answered true`,
        'true for one of them',
        TODO,
      )
    }
    if (winners.length === 1 && seen !== winners[0]) {
      throw new Finding(
        `one client created a record and was answered true, and the record is ${show(seen)}`,
        show(winners[0]),
        TODO,
      )
    }
    if (seen === null) {
      throw new Finding(
        `${trial.size.clients} clients tried to create one absent record, and it is still absent`,
        'one of them creates it',
        'answer false only if the record is not `from`, or after a conflict that another client has won',
      )
    }
  }
}

async function atomicSwaps(trial: Trial) {
  const teams = await openClients(trial)
  await claims(trial, teams)
  const group = trial.group('race')
  await trial.change(trial.clients[0], group, 'counter', null, '0 start')
  const { raceMs: ms, raceRounds: rounds } = trial.size
  const results = await everywhere(teams, ms, 'race', { group, name: 'counter', ms, rounds })
  const swapped = results.flatMap((result) => result.swapped)
  const failures = results.flatMap((result) => result.failures)
  const seen = await trial.clients[0].value(group, 'counter')
  trial.note(group, 'counter', seen)
  judge(swapped, failures, seen, trial.size.clients)
  const failed = failures.length === 0 ? '' : `; ${failures.length} calls failed, such as: ${failures[0].message}`
  return `${swapped.length} swaps of ${trial.size.clients} clients in ${teams.length} processes, none twice${failed}`
}

/** @param seen the final value of the record */
function judge(swapped: [from: string, to: string][], failures: Failure[], seen: string | null, clients: number) {
  const late = failures.find(({ code }) => code === 'ETIMEDOUT')
  if (late !== undefined) {
    throw new Finding(
      `${late.message}, with ${clients} clients`,
      'an answer to each call',
      'give each call a time limit',
    )
  }
  const froms = swapped.map(([from]) => from)
  const twice = froms.find((from, i) => froms.indexOf(from) !== i)
  if (twice !== undefined) {
    throw new Finding(`two swaps from one text (${show(twice)}) were both answered true`, 'true for one of them', TODO)
  }
  if (swapped.length > Number.parseInt(String(seen), 10)) {
    throw new Finding(
      `${swapped.length} swaps that raise a number by 1 were answered true, and the record is ${show(seen)}`,
      `${swapped.length} or more`,
      TODO,
    )
  }
  if (swapped.length === 0) {
    throw new Finding(
      `no swap of ${clients} clients was answered true${failures.length === 0 ? '' : `: ${failures[0].message}`}`,
      'at least one in each round',
      'answer false only if the record is not `from`, or after a conflict that another client has won',
    )
  }
}

export default [{ name: 'atomic swaps', run: atomicSwaps }] satisfies Check[]
