// One replica: joins the group, serves, and gives its slot back when Kubernetes says so.
//
//   FLAKEFORGE_STORE=redis://localhost PORT=8080 node examples/kubernetes/main.mjs

import { once } from 'node:events'
import { FlakeId } from 'flakeforge'
import { createService } from './service.mjs'

let flake
const service = createService(() => flake)

/** The requests under way are answered first, then the slot is given back. The library has no signal handler. */
async function stop() {
  const closed = once(service, 'close')
  service.close()
  await closed
  await flake?.close()
  process.exit() // join() may still be waiting
}

process.once('SIGTERM', stop)
service.listen(process.env.PORT ?? 8080) // before join(): /readyz answers while that waits

// What join() throws ends the process, and Kubernetes starts it again, each time a little later.
flake = await FlakeId.join(process.env.FLAKEFORGE_STORE, { group: 'orders' })
flake.on('lost', ({ slot, cause }) => console.error(`slot ${slot} is another's, getting a new one`, cause ?? ''))
flake.on('attached', ({ slot }) => console.log(`slot ${slot}`))
console.log(`slot ${flake.slot}, node number ${flake.id}`)
