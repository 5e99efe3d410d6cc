'use strict'

// A fastify server to compare ours with, whose routes do nothing: `/text` answers with a text as long as an ID, and `/` like
// fastify's own benchmarks. It prints its URL once it listens.

const { createRequire } = require('node:module')
const path = require('node:path')

const requireOfServer = createRequire(path.join(__dirname, '..', '..', 'packages', 'server', 'package.json'))
const app = requireOfServer('fastify')()

const schema = { response: { 200: { type: 'object', properties: { hello: { type: 'string' } } } } }
app.post('/', { schema }, (_request, reply) => reply.send({ hello: 'world' }))
app.post('/text', (_request, reply) => reply.send('7531752143322087424'))
app.listen({ port: 0, host: '127.0.0.1' }).then((url) => console.log(url))
