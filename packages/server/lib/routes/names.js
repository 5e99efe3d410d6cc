'use strict'
// @ts-check

// GET /v1/names, /v1/slots/{name} and /v1/inspect/{id}: what the server serves, who holds which slot, and what an ID says.
// They change nothing. The holder's token of a slot never leaves the server.

const { layouts, format, toBigInt } = require('flakeforge')
const { Problem } = require('../http/problems.js')
const { readQuery } = require('../http/query.js')
const { ORIGIN, answers, text } = require('../http/schemas.js')
const { nearest } = require('../nearest.js')

/** @typedef {import('../ids/group.js').Group} Group */

/** Parts of an ID that are not fields of the node. */
const COMMON = new Set(['timestamp', 'date', 'tick', 'counter', 'id', 'mode'])

/** An ID as a text. How large it may be, and which bits are 0, its layout says. */
const ID = '^([0-9]+|0[xX][0-9a-fA-F]+|0[bB][01]+)$'

const NAME = { name: text('a name of GET /v1/names') }
const SCHEMAS = {
  names: {
    summary: 'What this server gives IDs of',
    operationId: 'getNames',
    response: answers(
      { 'application/json': { $ref: 'Names#' } },
      'all names, in the order of the configuration',
      [400, 503],
    ),
  },
  slots: {
    summary: 'Who holds the slots of a group',
    operationId: 'getSlots',
    params: { type: 'object', properties: NAME, required: ['name'] },
    response: answers(
      { 'application/json': { $ref: 'Slots#' } },
      'the slots that were ever held',
      [400, 404, 503],
      ORIGIN,
    ),
  },
  inspect: {
    summary: 'What an ID says',
    operationId: 'inspectId',
    params: { type: 'object', properties: { id: text('decimal, 0x… or 0b…', { pattern: ID }) }, required: ['id'] },
    querystring: {
      type: 'object',
      properties: {
        name: text('the name whose layout it has'),
        layout: text('its layout, in place of the one that the name has', { enum: Object.keys(layouts) }),
      },
    },
    response: answers({ 'application/json': { $ref: 'Inspected#' } }, 'its parts', [400, 404, 503]),
  },
}

/**
 * @param {import('fastify').FastifyInstance} app
 * @param {{ names: import('../ids/names.js').Names }} options
 */
async function routes(app, { names }) {
  app.get('/v1/names', { schema: SCHEMAS.names }, async (request) => {
    readQuery(/** @type {any} */ (request.query), [])
    return { names: names.all.map((source) => source.facts()) }
  })

  app.get('/v1/slots/:name', { schema: SCHEMAS.slots }, async (request, reply) => {
    readQuery(/** @type {any} */ (request.query), [])
    const group = groupOf(names.of(/** @type {any} */ (request.params).name))
    const [slots, own] = [await group.slots(), group.slot]
    reply.headers(group.headers)
    return { name: group.name, group: group.group, slots: slots.map((/** @type {any} */ slot) => slotOf(slot, own)) }
  })

  app.get('/v1/inspect/:id', { schema: SCHEMAS.inspect }, async (request) => {
    const { name, layout } = readQuery(/** @type {any} */ (request.query), ['name', 'layout'])
    return inspect(/** @type {any} */ (request.params).id, layoutOf(names, name, layout))
  })
}

/**
 * @param {import('../ids/names.js').Source} source
 * @returns {Group}
 */
function groupOf(source) {
  if (source.kind === 'group') return /** @type {Group} */ (source)
  throw new Problem(
    404,
    'ERR_FLAKE_NAME',
    `'${source.name}' is a segment: its numbers come from a counter, without slots and layout.`,
  )
}

/**
 * @param {import('../ids/names.js').Names} names
 * @param {string | undefined} name
 * @param {string | undefined} layout
 */
function layoutOf(names, name, layout) {
  const group = name === undefined ? /** @type {Group | undefined} */ (names.firstGroup) : groupOf(names.of(name))
  if (layout === undefined) return group?.layout ?? layouts.flake
  if (Object.hasOwn(layouts, layout)) return /** @type {any} */ (layouts)[layout]
  const known = Object.keys(layouts)
  const meant = nearest(layout, known)
  const hint = meant === undefined ? `There are ${known.join(', ')}.` : `Did you mean '${meant}'?`
  throw new Problem(400, 'ERR_FLAKE_OPTION', `There is no layout '${layout.slice(0, 60)}'. ${hint}`)
}

/**
 * @param {string} given
 * @param {import('flakeforge').Layout} layout
 */
function inspect(given, layout) {
  const id = toBigInt(given)
  const parts = layout.decode(id)
  const { timestamp, date, tick, counter, id: node, mode } = parts
  return {
    ...{ id: String(id), hex: format(id, 'hex').replace(/^0x/, '').padStart(16, '0') },
    bits: id.toString(2).padStart(64, '0'),
    ...{ layout: layout.name, timestamp },
    ...(!Number.isNaN(date.getTime()) && { date: date.toISOString() }),
    ...{ tick: String(tick), counter, node },
    ...(mode !== undefined && { mode }),
    fields: Object.fromEntries(Object.entries(parts).filter(([field]) => !COMMON.has(field))),
  }
}

/**
 * @param {import('flakeforge').SlotInfo} slot
 * @param {number | undefined} own
 */
function slotOf({ slot, owner, host, lo, hi, pid }, own) {
  // A folder knows the process that holds a slot; a server knows a window.
  const held = owner !== undefined && (pid !== undefined || hi >= Date.now())
  return {
    slot,
    ...(host !== undefined && { host }),
    ...{ lo, hi, held, mine: held && slot === own },
    ...(pid === undefined && { expires: new Date(hi).toISOString() }),
  }
}

exports.routes = routes
