// Checks that close ends all that a client has open, so that its process can end, and nothing of another client.

import { Finding } from '../finding.ts'
import type { Check, Trial } from '../trial.ts'

const EXIT_MS = 5000

async function close(trial: Trial) {
  const client = await trial.newClient()
  const other = await client.process.open()
  const group = trial.group('shared')
  for (const each of [client, other]) await each.identity(group)
  if (client.has.close) {
    await client.close()
    await other.identity(group).catch((error) => {
      throw new Finding(
        `after close() of one client, another one of its process cannot read: ${error.message}`,
        'separate clients: the default export opens one at each call, and close() ends that one',
        'open the connection or pool in the default export, not when the module is loaded',
      )
    })
    await other.close()
  }
  const exit = await client.process.ends(EXIT_MS)
  const what = client.has.close ? 'after close()' : 'of a store without close()'
  if (!exit.ended) {
    await client.process.kill()
    throw new Finding(
      `a process ${what} was still running ${EXIT_MS / 1000} s later`,
      'a process that can end',
      `${client.has.close ? 'end' : 'provide a close() that ends'} the connections and timers of the client`,
    )
  }
  if (exit.with !== 0) {
    throw new Finding(`a process ${what} ended with ${exit.with}`, 'exit status 0', 'see its output above')
  }
  return client.has.close ? 'the process ends' : 'absent, and the process ends without it'
}

export default [{ name: 'close', run: close }] satisfies Check[]
