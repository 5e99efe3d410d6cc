// GET /openapi.json: the document of this API, made from the routes' schemas on the first request.

import type { FastifyInstance, RouteOptions as Route } from 'fastify'
import fastify from 'fastify'
import manifest from '../../package.json' with { type: 'json' }
import { ALL, answers, COMPILES_NOTHING } from '../http/schemas.ts'

const TOKEN = { token: [] }

/** @param hasTokens whether a route needs a token unless it says otherwise; without tokens, one is accepted and ignored */
const swaggerOf = (hasTokens: boolean) => ({
  openapi: {
    openapi: '3.0.3',
    info: {
      title: 'flakeforge-server',
      description: 'Unique 64-bit IDs. In JSON they are text, because a JSON number would be rounded.',
      version: manifest.version,
      license: { name: 'MIT', url: 'https://github.com/flakeforge/flakeforge/blob/main/LICENSE' },
    },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: hasTokens ? [TOKEN] : [TOKEN, {}],
  },
  refResolver: { buildLocalReference: (json: any) => json.$id },
})

/** The document, from an app that never listens, so that its generator is loaded only on request. */
async function documentOf(known: Route[], hasTokens: boolean) {
  const app = fastify({ exposeHeadRoutes: false, schemaController: COMPILES_NOTHING })
  for (const schema of ALL) app.addSchema(schema)
  const { default: swagger } = await import('@fastify/swagger')
  await app.register(swagger, swaggerOf(hasTokens) as any)
  await app.register(async (routes) => {
    for (const { method, url, schema } of known)
      if (method !== 'HEAD') routes.route({ method, url, schema, handler: () => {} })
  })
  await app.ready()
  return Buffer.from(JSON.stringify(app.swagger()))
}

export async function routes(app: FastifyInstance, { known, hasTokens }: { known: Route[]; hasTokens: boolean }) {
  let text: Promise<Buffer> | undefined // it does not change
  const schema = {
    summary: 'Get this document',
    operationId: 'getDocument',
    response: answers({ 'application/json': { type: 'object' } }, 'this API in OpenAPI 3.0', []),
  }
  app.get('/openapi.json', { schema }, async (_request, reply) => {
    text ??= documentOf(known, hasTokens)
    return reply.header('content-type', 'application/json; charset=utf-8').send(await text)
  })
}
