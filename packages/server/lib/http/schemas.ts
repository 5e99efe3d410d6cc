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

/** The headers that say of what a name's IDs are. */
export const ORIGIN = {
  'flakeforge-layout': {
    description: 'groups: the layout with its fixed node fields. IDs of two layouts may be equal',
    schema: { type: 'string' },
  },
  'flakeforge-group': {
    description: 'names the group or the segment, as made on its store. IDs of two may be equal',
    schema: { type: 'string', pattern: '^[0-9a-f]{16}$' },
  },
  'flakeforge-slot': { description: 'groups: the slot that made them', schema: { type: 'integer', minimum: 0 } },
}

/** The headers of an answer with IDs. */
export const MADE = {
  ...ORIGIN,
  'flakeforge-order': {
    description: 'none: IDs of one slot are in no order. Without it they ascend, from answer to answer too',
    schema: { type: 'string', enum: ['none'] },
  },
  'flakeforge-nonce': {
    description: 'that of the request, if it had one. Another one, or none: the answer was made for another request',
    schema: { type: 'string' },
  },
}

const DECIMAL = '^\\d{1,20}$'
const time: (description: string) => object = (description) => text(description, { format: 'date-time' })

const Problem = {
  $id: 'Problem',
  description: 'What is wrong, by RFC 9457.',
  ...object(
    {
      type: text('always about:blank'),
      title: text('the name of the status'),
      status: integer('the status', { minimum: 400, maximum: 599 }),
      detail: text('what is wrong, the bound, and what to do'),
      code: text('stable, for programs', { pattern: '^ERR_FLAKE_[A-Z_]+$' }),
      retryAfterMs: { type: 'number', description: 'when to try again', minimum: 0 },
    },
    ['retryAfterMs'],
  ),
}

const Ids = {
  $id: 'Ids',
  ...object({
    name: text('the name that was asked for'),
    ids: list(text('64 bits, not negative', { pattern: DECIMAL }), 'decimal, as text: a JSON number would be rounded'),
  }),
}

const Layout = {
  $id: 'Layout',
  description: "what new Layout(spec, options) of 'flakeforge/codec' needs",
  ...object(
    {
      name: text('of the layout'),
      epoch: { type: 'number', description: 'Unix ms' },
      tickMs: { type: 'number', description: 'length of a tick' },
      fields: list(
        { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] }, minItems: 2, maxItems: 2 },
        'name and bits of each field, the most significant first; none for decimal layouts',
      ),
      end: time('when the layout ends'),
      signedEnd: time('when its IDs no longer fit into signed 64-bit columns'),
      nodes: integer('snowcast: how many nodes'),
      mode: text('uniqueid'),
      idOffset: text('what is added to each ID', { pattern: '^-?\\d+$' }),
    },
    ['nodes', 'mode', 'idOffset'],
  ),
}

const Name = {
  $id: 'Name',
  ...object(
    {
      name: text('for POST /v1/ids/{name}'),
      kind: text('what gives its IDs', { enum: ['group', 'segment'] }),
      group: text('the group on the store'),
      layout: { $ref: 'Layout#' },
      state: text('of its slot', { enum: ['attached', 'detached', 'destroyed'] }),
      slot: integer('its slot', { minimum: 0 }),
      expires: time('until when IDs can be made without the store; a folder moves it on as IDs are made'),
      segment: text('the counter on the store'),
      block: integer('how many numbers are taken from the store at once'),
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
      layout: text('the layout that it was read in'),
      timestamp: { type: 'number', description: 'Unix ms; with a fraction where ticks are finer' },
      date: time('the same, unless it is beyond what a date can say'),
      tick: text("ticks since the layout's epoch", { pattern: DECIMAL }),
      counter: integer('the how manieth of its tick and node'),
      node: integer('all node fields, joined'),
      mode: text('uniqueid: how it was made'),
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
      host: text('the host of the holder, or of the last one'),
      lo: { type: 'number', description: "Unix ms by the store's clock: the first of its window" },
      hi: { type: 'number', description: 'the last of it' },
      expires: time('hi, as text; not in a folder, where a slot is held as long as the process runs'),
      held: { type: 'boolean', description: 'whether somebody holds it' },
      mine: { type: 'boolean', description: 'whether this server does' },
    },
    ['host', 'expires'],
  ),
}

const Slots = {
  $id: 'Slots',
  ...object({ name: text('the name'), group: text('the group'), slots: list({ $ref: 'Slot#' }) }),
}
const Names = { $id: 'Names', ...object({ names: list({ $ref: 'Name#' }) }) }
const Status = { $id: 'Status', ...object({ status: text('ok', { enum: ['ok'] }) }) }

export const ALL = [Problem, Ids, Layout, Name, Names, Inspected, Slot, Slots, Status]

const MEANINGS: Record<number, string> = {
  400: 'a header, parameter, ID or body that cannot be',
  401: 'no token, or a wrong one, where the server wants one',
  403: 'a page of another site asks, or one that takes this machine for another',
  404: 'no such name or route',
  405: 'another method; the header Allow says which',
  406: 'none of the forms that are accepted',
  408: 'the request took too long to arrive',
  413: 'a body, where none is taken',
  415: 'a body, where none is taken',
  417: 'the header Expect wants what the server cannot do',
  429: 'too many requests from this address; the header Retry-After says when to ask again',
  431: 'headers that are too long',
  500: 'a mistake in the server',
  503: 'no IDs at present; the header Retry-After says when to ask again',
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
 * Schemas only document: the routes check what they get, say more about it than a schema can, and write what they mean. To
 * compile them would be a third of a server's start. Fastify's types want functions with all that those of Ajv have.
 */
export const COMPILES_NOTHING: any = {
  compilersFactory: { buildValidator: () => () => () => true, buildSerializer: () => () => JSON.stringify },
}
