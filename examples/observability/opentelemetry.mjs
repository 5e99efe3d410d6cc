// The same with OpenTelemetry: its SDK collects the metrics, and any of its exporters sends them on. This one serves
// Prometheus, so that both programs show the same; an OTLP exporter goes into `readers` in the same way.
//
//   node examples/observability/opentelemetry.mjs

import { createServer } from 'node:http'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { FlakeId } from 'flakeforge'
import { openTelemetryMetrics } from 'flakeforge/metrics'

const exporter = new PrometheusExporter({ preventServerStart: true })
const provider = new MeterProvider({ readers: [exporter] })
openTelemetryMetrics(provider.getMeter('flakeforge'))
const flake = await FlakeId.join(process.env.FLAKEFORGE_STORE, { group: 'orders' })

const server = createServer((request, response) => {
  if (request.url === '/metrics') return exporter.getMetricsRequestHandler(request, response)
  response.end(`${flake.nextString()}\n`)
})
server.listen(process.env.PORT ?? 9464, () => console.log(`http://localhost:${server.address().port}/metrics`))

process.once('SIGTERM', async () => {
  server.close()
  await flake.close()
  await provider.shutdown()
})
