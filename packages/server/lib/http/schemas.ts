// The answers' shapes, as JSON Schema: /openapi.json shows them.

export const text: (description: string, more?: object) => object = (description, more = {}) => ({
  type: 'string',
  description,
  ...more,
})
export const integer: (description: string, more?: object) => object = (description, more = {}) => ({
  type: 'integer',
  description,
  ...more,
})
const object: (properties: Record<string, object>, optional?: string[]) => object = (properties, optional = []) => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
})
const list: (items: object, description?: string) => object = (items, description) => ({
  type: 'array',
  items,
  ...(description && { description }),
})

/** The headers that describe the origin of a name's IDs. */
export const ORIGIN = {
  'flakeforge-layout': {
    description: 'groups: the layout with its fixed node fields. IDs of two layouts may be equal',
    schema: { type: 'string' },
  },
  'flakeforge-group': {
    description: 'identifies the group or segment, as created on its store. IDs of two groups or segments may be equal',
    schema: { type: 'string', pattern: '^[0-9a-f]{16}$' },
  },
  'flakeforge-slot': {
    description: 'groups: the slot that generated the IDs',
    schema: { type: 'integer', minimum: 0 },
  },
}

/** The headers of an answer with IDs. */
export const MADE = {
  ...ORIGIN,
  'flakeforge-order': {
    description: 'none: the IDs of a slot are not ordered. Without this header they ascend, also across responses',
    schema: { type: 'string', enum: ['none'] },
  },
  'flakeforge-nonce': {
    description:
      'the nonce of the request, if it had one. If it differs or is missing, the response is for another request',
    schema: { type: 'string' },
  },
}

const DECIMAL = '^\\d{1,20}$'
const time: (description: string) => object = (description) => text(description, { format: 'date-time' })

const Problem = {
  $id: 'Problem',
  description: 'An error, in the format of RFC 9457.',
  ...object(
    {
      type: text('always about:blank'),
      title: text('the reason phrase of the HTTP status'),
      status: integer('the HTTP status', { minimum: 400, maximum: 599 }),
      detail: text('what was wrong, what is allowed, and what to do'),
      code: text('stable error code, for programs', { pattern: '^ERR_FLAKE_[A-Z_]+$' }),
      retryAfterMs: { type: 'number', description: 'ms to wait before the next attempt', minimum: 0 },
    },
    ['retryAfterMs'],
  ),
}

const Ids = {
  $id: 'Ids',
  ...object({
    name: text('the requested name'),
    ids: list(
      text('unsigned 64-bit number', { pattern: DECIMAL }),
      'decimal text, because a JSON number would be rounded',
    ),
  }),
}

const Layout = {
  $id: 'Layout',
  description: "the arguments of new Layout(spec, options) of 'flakeforge/codec'",
  ...object(
    {
      name: text('the name of the layout'),
      epoch: { type: 'number', description: 'in Unix ms' },
      tickMs: { type: 'number', description: 'length of a tick in ms' },
      fields: list(
        { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] }, minItems: 2, maxItems: 2 },
        'name and number of bits of each field, most significant first; empty for decimal layouts',
      ),
      end: time('when the layout ends; missing after the year 9999'),
      signedEnd: time('when its IDs no longer fit into signed 64-bit columns; missing after the year 9999'),
      nodes: integer('snowcast: the number of nodes'),
      mode: text("in uniqueid and in mode 'spread': the order of the timestamp's bits"),
      idOffset: text('the number added to each ID', { pattern: '^-?\\d+$' }),
    },
    ['end', 'signedEnd', 'nodes', 'mode', 'idOffset'],
  ),
}

const Name = {
  $id: 'Name',
  ...object(
    {
      name: text('the name, as in POST /v1/ids/{name}'),
      kind: text('the source of its IDs', { enum: ['group', 'segment'] }),
      group: text('the group on the store'),
      layout: { $ref: 'Layout#' },
      state: text('the state of its slot', { enum: ['attached', 'detached', 'destroyed'] }),
      slot: integer('its slot', { minimum: 0 }),
      expires: time('until when IDs are available without the store; in a folder, it advances as they are generated'),
      segment: text('the counter on the store'),
      block: integer('how many numbers each call takes from the store'),
    },
    ['group', 'layout', 'state', 'slot', 'expires', 'segment', 'block'],
  ),
}

const Inspected = {
  $id: 'Inspected',
  ...object(
    {
      id: text('the ID in decimal', { pattern: DECIMAL }),
      hex: text('16 digits', { pattern: '^[0-9a-f]{16}$' }),
      bits: text('64 digits', { pattern: '^[01]{64}$' }),
      layout: text('the layout that was used to decode it'),
      timestamp: { type: 'number', description: 'Unix ms, with a fraction if ticks are finer' },
      date: time('the timestamp as a date; missing after the year 9999'),
      tick: text("ticks since the layout's epoch", { pattern: DECIMAL }),
      counter: integer('position within its tick and node'),
      node: integer('all node fields, combined into one number'),
      mode: text("in uniqueid and in mode 'spread': the mode in which it was generated"),
      fields: { type: 'object', description: 'the node fields by name', additionalProperties: { type: 'integer' } },
    },
    ['date', 'mode'],
  ),
}

const Slot = {
  $id: 'Slot',
  ...object(
    {
      slot: integer('from 0', { minimum: 0 }),
      host: text('the host of its holder, or of its last holder'),
      lo: { type: 'number', description: "the first ms of its window, in Unix ms of the store's clock" },
      hi: { type: 'number', description: 'the last ms of its window' },
      expires: time('hi as a date; missing for a folder, where a slot is held as long as its process runs'),
      held: { type: 'boolean', description: 'whether the slot is held' },
      mine: { type: 'boolean', description: 'whether this server holds it' },
    },
    ['host', 'expires'],
  ),
}

const Slots = {
  $id: 'Slots',
  ...object(
    {
      name: text('the requested name'),
      group: text('its group'),
      slots: list({ $ref: 'Slot#' }, 'in ascending order'),
      next: integer('`from` of the next page; missing on the last one', { minimum: 0 }),
    },
    ['next'],
  ),
}
const Names = { $id: 'Names', ...object({ names: list({ $ref: 'Name#' }) }) }
const Status = { $id: 'Status', ...object({ status: text('ok', { enum: ['ok'] }) }) }

export const ALL = [Problem, Ids, Layout, Name, Names, Inspected, Slot, Slots, Status]

const MEANINGS: Record<number, string> = {
  400: 'an invalid header, parameter, ID or body',
  401: 'the server requires a token, and the request has none or an invalid one',
  403: 'a page of another site sent the request, or the header Host does not name this server',
  404: 'unknown name or route',
  405: 'wrong method; the header Allow lists the allowed ones',
  406: 'the server offers none of the accepted media types',
  408: 'the request took too long to arrive',
  413: 'the request has a body, and this route accepts none',
  415: 'the request has a body, and this route accepts none',
  417: 'the server cannot meet the header Expect',
  429: 'too many requests from this address; retry after the time in the header Retry-After',
  431: 'the headers are too long',
  500: 'an internal error of the server',
  503: 'no IDs at the moment; retry after the time in the header Retry-After',
}

/**
 * The answers of a route.
 * @param content of 200, by media type
 * @param description of 200
 * @param headers of 200
 */
export function answers(
  content: Record<string, unknown>,
  description: string,
  problems: number[],
  headers?: Record<string, unknown>,
) {
  const problem = { 'application/problem+json': { schema: { $ref: 'Problem#' } } }
  const others = [...new Set([400, ...problems, 401, 403, 417, 429, 500])].map((status) => [
    status,
    { description: MEANINGS[status], content: problem },
  ])
  const ok = {
    description,
    content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])),
  }
  return { 200: headers === undefined ? ok : { ...ok, headers }, ...Object.fromEntries(others) }
}

/**
 * Schemas only document: the routes check their input, describe faults better than a schema can, and write their own output.
 * Compiling them would be a third of a server's start. Fastify's types require functions with all properties of Ajv's.
 */
export const COMPILES_NOTHING: any = {
  compilersFactory: { buildValidator: () => () => undefined, buildSerializer: () => () => JSON.stringify },
}
