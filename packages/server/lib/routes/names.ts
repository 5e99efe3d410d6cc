// GET /v1/names, /v1/slots/{name} and /v1/inspect/{id}: the served names, the holders of slots, and the contents of an ID.
// They change nothing. The holder's token of a slot never leaves the server.

import type { FastifyInstance } from 'fastify'
import { FlakeError, format, type Layout, layouts, toBigInt } from 'flakeforge'
import { nearest } from '../../../shared.ts'
import { dated } from '../dates.ts'
import { Problem, shown } from '../http/problems.ts'
import { readQuery } from '../http/query.ts'
import { answers, integer, ORIGIN, text } from '../http/schemas.ts'
import type { Group } from '../ids/group.ts'
import type { Names, Served } from '../ids/names.ts'
import { PAGE } from '../ids/slot-pages.ts'
import { Recent } from '../recent.ts'

/** For how long GET /v1/names repeats its answer: a server may have thousands of names. */
const FRESH_MS = 250

/** Parts of an ID that are not fields of the node. */
const COMMON = new Set(['timestamp', 'date', 'tick', 'counter', 'id', 'mode'])

/** An ID as a text. Its layout determines how large it may be, and which bits are 0. */
const ID = '^([0-9]+|0[xX][0-9a-fA-F]+|0[bB][01]+)$'

const JSON_TYPE = 'application/json; charset=utf-8'

const NAME = { name: text('a name from GET /v1/names') }

/** No group has so many slots, and a number holds it exactly. */
const MOST_FROM = 1e14
const SCHEMAS = {
  names: {
    summary: 'List the names for which this server has IDs',
    operationId: 'getNames',
    response: answers(
      { 'application/json': { $ref: 'Names#' } },
      'all names, in the order of the configuration',
      [400, 503],
    ),
  },
  slots: {
    summary: 'List the slots of a group and their holders',
    operationId: 'getSlots',
    params: { type: 'object', properties: NAME, required: ['name'] },
    querystring: {
      type: 'object',
      properties: {
        from: integer('the first slot of the page: `next` of the page before', {
          minimum: 0,
          maximum: MOST_FROM,
          multipleOf: PAGE,
          default: 0,
        }),
      },
    },
    response: answers(
      { 'application/json': { $ref: 'Slots#' } },
      `the slots that are or were held, of ${PAGE} slot numbers, as they were within the last second`,
      [400, 404, 503],
      ORIGIN,
    ),
  },
  inspect: {
    summary: 'Decode an ID',
    operationId: 'inspectId',
    params: { type: 'object', properties: { id: text('decimal, 0x… or 0b…', { pattern: ID }) }, required: ['id'] },
    querystring: {
      type: 'object',
      properties: {
        name: text('decode with the layout of this name'),
        layout: text('decode with this layout instead of that of the name', { enum: Object.keys(layouts) }),
      },
    },
    response: answers({ 'application/json': { $ref: 'Inspected#' } }, 'the parts of the ID', [400, 404, 503]),
  },
}

type Query = { Querystring: Record<string, unknown> }

export async function routes(app: FastifyInstance, { names }: { names: Names }) {
  const all = new Recent(FRESH_MS, async () =>
    Buffer.from(JSON.stringify({ names: names.all.map((served) => served.facts()) })),
  )
  app.get<Query>('/v1/names', { schema: SCHEMAS.names }, async (request, reply) => {
    readQuery(request.query, [])
    return reply.header('content-type', JSON_TYPE).send(await all.get())
  })

  app.get<Query & { Params: { name: string } }>(
    '/v1/slots/:name',
    { schema: SCHEMAS.slots },
    async (request, reply) => {
      const { from = '0' } = readQuery(request.query, ['from'])
      const group = groupOf(names.of(request.params.name))
      const page = await group.slots.from(readFrom(from))
      return reply.headers(group.headers).header('content-type', JSON_TYPE).send(page)
    },
  )

  app.get<Query & { Params: { id: string } }>('/v1/inspect/:id', { schema: SCHEMAS.inspect }, async (request) => {
    const { name, layout } = readQuery(request.query, ['name', 'layout'])
    return inspect(request.params.id, layoutOf(names, name, layout))
  })
}

function readFrom(text: string) {
  const from = Number(text)
  if (/^\d{1,15}$/.test(text) && from <= MOST_FROM && from % PAGE === 0) return from
  throw new Problem(
    400,
    'ERR_FLAKE_OPTION',
    `from must be 0 or \`next\` of another page, a multiple of ${PAGE} up to ${MOST_FROM}, but is ${shown(text)}.`,
  )
}

function groupOf(served: Served): Group {
  if (served.kind === 'group') return served as Group
  throw new Problem(
    404,
    'ERR_FLAKE_NAME',
    `'${served.name}' is a segment: its numbers come from a counter, so it has no slots and no layout.`,
  )
}

function layoutOf(names: Names, name: string | undefined, layout: string | undefined) {
  const group = name === undefined ? (names.firstGroup as Group | undefined) : groupOf(names.of(name))
  if (layout === undefined) return group?.layout ?? layouts.flake
  if (Object.hasOwn(layouts, layout)) return layouts[layout as keyof typeof layouts]
  const known = Object.keys(layouts)
  const meant = nearest(layout, known)
  const hint = meant === undefined ? `The layouts are ${known.join(', ')}.` : `Did you mean '${meant}'?`
  throw new Problem(400, 'ERR_FLAKE_OPTION', `Unknown layout ${shown(layout)}. ${hint}`)
}

function decoded(given: string, layout: Layout) {
  try {
    const id = toBigInt(given)
    return { id, parts: layout.decode(id) }
  } catch (error) {
    // The message is about the client's own text.
    if (error instanceof FlakeError && error.code === 'ERR_FLAKE_ID') throw new Problem(400, error.code, error.message)
    throw error
  }
}

function inspect(given: string, layout: Layout) {
  const { id, parts } = decoded(given, layout)
  const { timestamp, date, tick, counter, id: node, mode } = parts
  return {
    id: String(id),
    hex: format(id, 'hex').replace(/^0x/, '').padStart(16, '0'),
    bits: id.toString(2).padStart(64, '0'),
    layout: layout.name,
    timestamp,
    ...dated('date', date),
    tick: String(tick),
    counter,
    node,
    ...(mode !== undefined && { mode }),
    fields: Object.fromEntries(Object.entries(parts).filter(([field]) => !COMMON.has(field))),
  }
}
