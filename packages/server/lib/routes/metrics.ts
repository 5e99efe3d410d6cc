// GET /metrics, for Prometheus.

import type { FastifyInstance } from 'fastify'
import type { Measures } from '../http/measures.ts'

export async function routes(app: FastifyInstance, { measures }: { measures: Measures }) {
  const schema = {
    summary: 'Metrics for Prometheus',
    operationId: 'getMetrics',
    response: {
      200: { description: "Prometheus' text format", content: { 'text/plain': { schema: { type: 'string' } } } },
    },
  }
  app.get('/metrics', { schema }, async (_request, reply) => {
    const { registry } = measures
    reply.header('content-type', registry.contentType)
    return registry.metrics()
  })
}
