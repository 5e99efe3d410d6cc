// Checks that clients in all processes use one database.

import { Finding, show } from '../finding.ts'
import type { Check, Trial } from '../trial.ts'

async function isOneDatabase(trial: Trial) {
  const group = trial.group('shared')
  const text = trial.text()
  const [first, ...others] = trial.clients
  await trial.change(first, group, 'group', null, text)
  for (const client of others) {
    const seen = await client.value(group, 'group')
    if (seen === text) continue
    throw new Finding(
      `a process wrote a record, and another one reads ${show(seen)} instead`,
      `${show(text)}: clients in all processes use one database`,
      'connect every client to the same server, database and table',
    )
  }
  return 'each process reads the writes of the others'
}

export default [{ name: 'one database', run: isOneDatabase }] satisfies Check[]
