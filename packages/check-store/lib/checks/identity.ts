// Checks the identity of the server: text, and the same for all clients.

import type { StoreIdentity } from 'flakeforge/lease'
import { Finding, show } from '../finding.ts'
import type { Check, Trial } from '../trial.ts'

const describe = ({ history, process }: StoreIdentity) => `{ history: ${show(history)}, process: ${show(process)} }`

async function identity(trial: Trial) {
  const group = trial.group('identity')
  const second = await trial.processes[0].open()
  const known = await trial.clients[0].identity(group)
  if (known.history === '' && known.process === '') {
    throw new Finding(
      "both parts are ''",
      'text that changes when the server may have lost writes, in at least one part',
      "return an id of the data as `history`, and one of the server's run as `process`; '' means unknown, so a loss never shows",
    )
  }
  const away = await trial.newClient('elsewhere')
  const clients = [trial.clients[0], second, away, ...trial.clients]
  for (const client of clients) {
    const other = await client.identity(group)
    if (other.history === known.history && other.process === known.process) continue
    throw new Finding(
      `one read returned ${describe(known)}, and another ${describe(other)}`,
      'the same identity for all clients, in all processes, as long as nothing is lost',
      'read the identity from the server; do not make it in the client',
    )
  }
  await away.process.kill()
  return `the same for ${trial.clients.length + 2} clients: ${describe(known)}`
}

export default [{ name: 'identity', run: identity }] satisfies Check[]
