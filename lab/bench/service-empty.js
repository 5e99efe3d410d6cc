'use strict'

// A fastify server to compare ours with, whose routes do nothing: `/` answers like fastify's own benchmarks, and
// `/nothing` has no body either. It prints its URL once it listens.

const { createRequire } = require('node:module')
const path = require('node:path')

const requireOfServer = createRequire(path.join(__dirname, '..', '..', 'packages', 'server', 'package.json'))
const app = requireOfServer('fastify')()

const schema = { response: { 200: { type: 'object', properties: { hello: { type: 'string' } } } } }
app.post('/', { schema }, (_request, reply) => reply.send({ hello: 'world' }))
app.post('/nothing', (_request, reply) => reply.send())
app.listen({ port: 0, host: '127.0.0.1' }).then((url) => console.log(url))
