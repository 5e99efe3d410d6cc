// GET /metrics, for Prometheus.

import type { FastifyInstance } from 'fastify'
import type { Measures } from '../http/measures.ts'
import { answers } from '../http/schemas.ts'

export async function routes(app: FastifyInstance, { measures }: { measures: Measures }) {
  const schema = {
    summary: 'Get metrics for Prometheus',
    operationId: 'getMetrics',
    response: answers({ 'text/plain': { type: 'string' } }, 'the text format of Prometheus', []),
  }
  app.get('/metrics', { schema }, async (_request, reply) => {
    const { registry } = measures
    reply.header('content-type', registry.contentType)
    return registry.metrics()
  })
}
