// One replica: joins the group, serves, and gives its slot back on SIGTERM.
//
//   FLAKEFORGE_STORE=redis://localhost PORT=8080 node examples/kubernetes/main.mjs

import { once } from 'node:events'
import { FlakeId } from 'flakeforge'
import { createService } from './service.mjs'

let flake
const service = createService(() => flake)

/** Answers the requests in progress first, then gives the slot back. The library installs no signal handler. */
async function stop() {
  const closed = once(service, 'close')
  service.close()
  await closed
  await flake?.close()
  process.exit() // join() may still be waiting
}

process.once('SIGTERM', stop)
service.listen(process.env.PORT ?? 8080) // before join(), so that /readyz responds while join() waits

// An error from join() ends the process, and Kubernetes restarts it, with increasing delays.
flake = await FlakeId.join(process.env.FLAKEFORGE_STORE, { group: 'orders' })
flake.on('lost', ({ slot, cause }) => console.error(`slot ${slot} was taken over, getting a new one`, cause ?? ''))
flake.on('attached', ({ slot }) => console.log(`slot ${slot}`))
console.log(`slot ${flake.slot}, node number ${flake.id}`)
