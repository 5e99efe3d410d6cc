// GET /metrics, for Prometheus: rendered at most once a second.

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
    reply.header('content-type', measures.contentType)
    return measures.text()
  })
}
