// POST /v1/ids/{name}: IDs as JSON, lines of text or bytes. It is POST, and never cached, because a cached answer would
// repeat IDs. This is the hot path of the server: one ID costs little more than an empty route.

import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { checkNonce, NONCE, PATTERN } from '../http/nonce.ts'
import { overloaded, Problem, shown } from '../http/problems.ts'
import { unknown } from '../http/query.ts'
import { answers, integer, MADE, text } from '../http/schemas.ts'
import type { Served } from '../ids/names.ts'
import type { Parts } from '../parts.ts'

const PATH = '/v1/ids/:name'
const MOST = 10_000
const FORMS = ['application/json', 'text/plain', 'application/octet-stream']
/** The offered types: a client gets them whether it asks for this charset or for none. */
const OFFERED = ['application/json; charset=utf-8', 'text/plain; charset=utf-8', 'application/octet-stream']
/** All that mean any form; the last one is not a media range, but Java's own client sends it. */
const ANY = [undefined, '*/*', '*']

function readCount(text: unknown): number {
  if (typeof text === 'string' && /^[1-9]\d{0,4}$/.test(text)) {
    const n = Number(text)
    if (n <= MOST) return n
  }
  const given = Array.isArray(text) ? 'given more than once' : shown(String(text))
  throw new Problem(
    400,
    'ERR_FLAKE_OPTION',
    `n must be an integer from 1 to ${MOST}, but is ${given}. Ask for more in several requests.`,
  )
}

/** How many IDs are requested. */
function countOf(query: Record<string, unknown>) {
  let n = 1
  for (const key in query) {
    if (key !== 'n') throw unknown(key, ['n'])
    n = readCount(query.n)
  }
  return n
}

/** The client's preferred form. */
function formOf(request: FastifyRequest) {
  const { accept } = request.headers
  if (ANY.includes(accept)) return FORMS[0]
  if (FORMS.includes(accept as string)) return accept as string
  const form = request.accepts().type(OFFERED)
  if (typeof form === 'string') return FORMS[OFFERED.indexOf(form)]
  throw new Problem(406, 'ERR_FLAKE_ACCEPT', `IDs come as ${FORMS.join(', ')}. Accept one of them.`)
}

/** The body of an answer, generated without waiting. */
function bodyOf(served: Served, n: number, form: string) {
  if (form === 'application/octet-stream') return served.bytes(n)
  if (n > 1) return write(served, served.texts(n), form)
  const id = served.one()
  return form === 'text/plain' ? `${id}\n` : `{"name":${served.json},"ids":["${id}"]}`
}

function write(served: Served, texts: string[], form: string) {
  return form === 'text/plain' ? `${texts.join('\n')}\n` : `{"name":${served.json},"ids":["${texts.join('","')}"]}`
}

function textsOf(ids: Buffer) {
  const texts = []
  for (let at = 0; at < ids.length; at += 8) texts.push(String(ids.readBigUInt64BE(at)))
  return texts
}

const SCHEMA = {
  summary: 'Take new IDs',
  operationId: 'takeIds',
  params: { type: 'object', properties: { name: text('a name from GET /v1/names') }, required: ['name'] },
  headers: {
    type: 'object',
    properties: {
      [NONCE]: text('random for each request. The response repeats it: reject one in which it differs or is missing', {
        pattern: PATTERN,
      }),
    },
  },
  querystring: { type: 'object', properties: { n: integer('how many', { minimum: 1, maximum: MOST, default: 1 }) } },
  response: answers(
    {
      'application/json': { $ref: 'Ids#' },
      'text/plain': { type: 'string', description: 'decimal, one per line, each followed by a line feed' },
      'application/octet-stream': { type: 'string', format: 'binary', description: '8 bytes each, big-endian' },
    },
    'IDs that no other request gets, ascending',
    [400, 404, 406, 413, 415, 503],
    MADE,
  ),
}

export async function routes(
  app: FastifyInstance,
  { names, waiting, state, connections }: Pick<Parts, 'names' | 'waiting' | 'state' | 'connections'>,
) {
  function atOnce(served: Served, n: number, form: string) {
    if (!served.isFew(n)) return undefined
    try {
      const body = bodyOf(served, n, form)
      served.supervisor.works()
      return body
    } catch (error) {
      if (waiting.helps(error as Error)) return undefined
      served.supervisor.fails(error as Error)
      throw error
    }
  }

  function later(served: Served, n: number, form: string, socket: Socket) {
    return waiting.run(socket, async (signal) => {
      try {
        const { headers } = served
        const ids = await served.later(n, signal)
        if (served.headers !== headers) throw moved()
        served.supervisor.works()
        return form === 'application/octet-stream' ? ids : write(served, textsOf(ids), form)
      } catch (error) {
        if (!signal.aborted) served.supervisor.fails(error as Error)
        throw error
      }
    })
  }

  app.post<{ Params: { name: string }; Querystring: Record<string, unknown> }>(
    PATH,
    { schema: SCHEMA },
    (request, reply) => {
      if (state.isClosing) return connections.stopped.then(refuse)
      if (state.isOverloaded()) throw overloaded()
      const served = names.of(request.params.name)
      const nonce = request.headers[NONCE] as string | undefined
      checkNonce(nonce)
      const n = countOf(request.query)
      const form = formOf(request)
      const give = (body: string | Buffer) => {
        reply.headers(served.headers).header('content-type', OFFERED[FORMS.indexOf(form)])
        if (nonce !== undefined) reply.header(NONCE, nonce)
        return body
      }
      const { socket } = request.raw
      const body = atOnce(served, n, form)
      return body === undefined ? later(served, n, form, socket).then(give) : give(body)
    },
  )
}

/** The headers name one slot of one group for all IDs of an answer. */
const moved = () =>
  new Problem(503, 'ERR_FLAKE_DETACHED', 'This server got another slot while it generated the IDs. Ask again.')

const refuse = (): never => {
  throw new Problem(503, 'ERR_FLAKE_ENDING', 'This server is shutting down. Ask another one.')
}
