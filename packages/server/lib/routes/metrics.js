'use strict'
// @ts-check

// GET /metrics, for Prometheus.

/**
 * @param {import('fastify').FastifyInstance} app
 * @param {{ measures: import('../http/measures.js').Measures }} options
 */
async function routes(app, { measures }) {
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

exports.routes = routes
