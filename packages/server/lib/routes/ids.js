'use strict'
// @ts-check

// POST /v1/ids/{name}: IDs as JSON, lines of text or bytes. It is POST, and never cached, because a cached answer would
// give the same IDs twice. This is the hot path of the server: one ID costs little more than an empty route.

const { Problem } = require('../http/problems.js')
const { unknown } = require('../http/query.js')
const { ORIGIN, answers, integer, text } = require('../http/schemas.js')

/** @typedef {import('../ids/group.js').Group | import('../ids/segment.js').Segment} Source */

const PATH = '/v1/ids/:name'
const MOST = 10_000
const FORMS = ['application/json', 'text/plain', 'application/octet-stream']
/** What is offered: a client that asks for this charset gets it, and one that names none too. */
const OFFERED = ['application/json; charset=utf-8', 'text/plain; charset=utf-8', 'application/octet-stream']
/** All that mean any form; the last one is no media range, but Java's own client sends it. */
const ANY = [undefined, '*/*', '*']

/**
 * @param {unknown} text
 * @returns {number}
 */
function readCount(text) {
  if (typeof text === 'string' && /^[1-9]\d{0,4}$/.test(text)) {
    const n = Number(text)
    if (n <= MOST) return n
  }
  const given = Array.isArray(text) ? 'given more than once' : `'${String(text).slice(0, 30)}'`
  throw new Problem(
    400,
    'ERR_FLAKE_OPTION',
    `n must be an integer from 1 to ${MOST}, and is ${given}. Ask for more in several requests.`,
  )
}

/**
 * How many IDs are asked for.
 * @param {Record<string, unknown>} query
 */
function countOf(query) {
  let n = 1
  for (const key in query) {
    if (key !== 'n') throw unknown(key, ['n'])
    n = readCount(query.n)
  }
  return n
}

/**
 * The form that the client wants most.
 * @param {import('fastify').FastifyRequest} request
 */
function formOf(request) {
  const { accept } = request.headers
  if (ANY.includes(accept)) return FORMS[0]
  if (FORMS.includes(/** @type {string} */ (accept))) return /** @type {string} */ (accept)
  const form = request.accepts().type(OFFERED)
  if (typeof form === 'string') return FORMS[OFFERED.indexOf(form)]
  throw new Problem(406, 'ERR_FLAKE_ACCEPT', `IDs come as ${FORMS.join(', ')}. Accept one of them.`)
}

/**
 * The body of an answer, made without waiting.
 * @param {Source} source
 * @param {number} n
 * @param {string} form
 */
function bodyOf(source, n, form) {
  if (form === 'application/octet-stream') return source.bytes(n)
  if (n > 1) return write(source, source.texts(n), form)
  const id = source.one()
  return form === 'text/plain' ? `${id}\n` : `{"name":${source.json},"ids":["${id}"]}`
}

/**
 * @param {Source} source
 * @param {string[]} texts
 * @param {string} form
 */
function write(source, texts, form) {
  return form === 'text/plain' ? `${texts.join('\n')}\n` : `{"name":${source.json},"ids":["${texts.join('","')}"]}`
}

/** @param {Buffer} ids */
function textsOf(ids) {
  const texts = []
  for (let at = 0; at < ids.length; at += 8) texts.push(String(ids.readBigUInt64BE(at)))
  return texts
}

const SCHEMA = {
  summary: 'New IDs',
  operationId: 'takeIds',
  params: { type: 'object', properties: { name: text('a name of GET /v1/names') }, required: ['name'] },
  querystring: { type: 'object', properties: { n: integer('how many', { minimum: 1, maximum: MOST, default: 1 }) } },
  response: answers(
    {
      'application/json': { $ref: 'Ids#' },
      'text/plain': { type: 'string', description: 'decimal, one a line, each ended by a line feed' },
      'application/octet-stream': { type: 'string', format: 'binary', description: '8 bytes each, big-endian' },
    },
    'IDs that nobody else has, ascending',
    [400, 404, 406, 413, 415, 503],
    ORIGIN,
  ),
}

/**
 * @param {import('fastify').FastifyInstance} app
 * @param {Pick<import('../http/app.js').Parts, 'names' | 'waiting' | 'state'>} parts
 */
async function routes(app, { names, waiting, state }) {
  /**
   * @param {Source} source
   * @param {number} n
   * @param {string} form
   */
  function atOnce(source, n, form) {
    if (!source.isFew(n)) return undefined
    try {
      const body = bodyOf(source, n, form)
      source.keeper.works()
      return body
    } catch (error) {
      if (waiting.helps(error)) return undefined
      source.keeper.fails(/** @type {Error} */ (error))
      throw error
    }
  }

  /**
   * @param {Source} source
   * @param {number} n
   * @param {string} form
   * @param {import('node:net').Socket} socket
   */
  function later(source, n, form, socket) {
    return waiting.run(socket, async (signal) => {
      try {
        const ids = await source.later(n, signal)
        source.keeper.works()
        return form === 'application/octet-stream' ? ids : write(source, textsOf(ids), form)
      } catch (error) {
        if (!signal.aborted) source.keeper.fails(/** @type {Error} */ (error))
        throw error
      }
    })
  }

  app.post(PATH, { schema: SCHEMA }, (request, reply) => {
    if (state.isClosing) throw ending()
    const source = names.of(/** @type {any} */ (request.params).name)
    const n = countOf(/** @type {any} */ (request.query))
    const form = formOf(request)
    /** @param {string | Buffer} body */
    const give = (body) => {
      reply.headers(source.headers).header('content-type', OFFERED[FORMS.indexOf(form)])
      return body
    }
    const { socket } = request.raw
    const body = waiting.isOn(socket) ? undefined : atOnce(source, n, form)
    return body === undefined ? later(source, n, form, socket).then(give) : give(body)
  })
}

const ending = () => new Problem(503, 'ERR_FLAKE_ENDING', 'This server is ending. Ask another one.')

exports.routes = routes
