// A service that generates IDs and serves metrics for Prometheus: GET /metrics.
//
//   node examples/observability/prometheus.mjs

import { createServer } from 'node:http'
import { FlakeId } from 'flakeforge'
import { prometheusMetrics } from 'flakeforge/metrics'
import client from 'prom-client' // or '@prometheus-io/client', its new name

prometheusMetrics(client) // all generators and leases of this thread, earlier ones included
const flake = await FlakeId.join(process.env.FLAKEFORGE_STORE, { group: 'orders' })

const server = createServer(async (request, response) => {
  if (request.url === '/metrics') {
    response.setHeader('content-type', client.register.contentType)
    return response.end(await client.register.metrics())
  }
  response.end(`${flake.nextString()}\n`)
})
server.listen(process.env.PORT ?? 9464, () => console.log(`http://localhost:${server.address().port}/metrics`))

process.once('SIGTERM', async () => {
  server.close()
  await flake.close()
})
