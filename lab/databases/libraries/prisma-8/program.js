// Prisma 8, the rewrite: a contract in JavaScript and a client that reads it. A bigint column takes bigints only: text and
// numbers are refused. flake.js is the generator of IDs.
// Where a program only calls newId(), yours calls `toSigned(flake.next())`.

import { jsonReplacer } from 'flakeforge'
import { contractOf } from './contract.js'
import { databases } from './databases.js'
import { flakeId, flakeIds } from './flake.js'

/** `asId`: an ID as the column has it; `withId`: adds the ID, unless the contract's default does. */
function operations(db, { Customer }, { asId, withId, replacer }) {
  const byId = (id) => Customer.where({ id: asId(id) })
  const nested = (rows) => (relation) => relation.create(rows.map(withId))

  return {
    insert: (row) => Customer.create(withId(row)),

    read: (name) => Customer.where({ name }).first(),

    filter: (id) => byId(id).first(),

    range: (min, max) =>
      Customer.where((customer) => customer.id.gte(asId(min)))
        .where((customer) => customer.id.lte(asId(max)))
        .all(),

    order: () => Customer.orderBy((customer) => customer.id.asc()).all(),

    max: async () => (await Customer.aggregate((aggregate) => ({ id: aggregate.max('id') }))).id,

    withOrders: (id) => byId(id).include('orders').first(),

    createWithOrders: ({ name, orders }) => Customer.create({ ...withId({ name }), orders: nested(orders) }),

    update: (id, row) => byId(id).update(row),

    upsert: ({ id, name }) => Customer.upsert({ create: { id: asId(id), name }, update: { name } }),

    createWithTags: ({ name, tags }) => Customer.create({ ...withId({ name }), tags: nested(tags) }),

    withTags: (id) => byId(id).include('tags').first(),

    insertMany: (rows) => Customer.createAll(rows.map(withId)),

    toJson: async (id) => JSON.stringify(await byId(id).first(), replacer),

    fromJson: (text) => byId(BigInt(JSON.parse(text).id)).first(),

    close: () => db.close(),
  }
}

async function open({ database, url }, { idType, keyField, extensions, ...rest }) {
  const { builder, connect, modelsOf, createTables } = await databases[database]()
  const contract = contractOf(builder, idType, keyField)
  // The client would look for a mark that `npx prisma db init` writes when it creates the tables.
  const client = () => connect(url, { contract, extensions, verifyMarker: false })
  const program = () => {
    const db = client()
    return operations(db, modelsOf(db), rest)
  }
  const of = database === 'sqlite' ? reopened(program) : program()
  return { createTables: () => createTables(url, idType), ...of }
}

/** On SQLite a read that fails keeps the database locked until the client is closed, so each operation has a client. */
function reopened(program) {
  const once =
    (name) =>
    async (...args) => {
      const one = program()
      try {
        return await one[name](...args)
      } finally {
        await one.close()
      }
    }
  const names = Object.keys(program()).filter((name) => name !== 'close')
  return { ...Object.fromEntries(names.map((name) => [name, once(name)])), close() {} }
}

async function exactly({ database, newId, url }) {
  const { bigint, builder } = await databases[database]()
  const [idType, asId] = database === 'sqlite' ? [builder.text, String] : [bigint, (id) => id]
  return open(
    { database, url },
    {
      idType,
      keyField: flakeId,
      extensions: [flakeIds(database, () => asId(newId()))],
      asId,
      withId: (row) => row,
      replacer: jsonReplacer,
    },
  )
}

/** Without a generator, every row gets its ID by hand. */
async function byHand({ database, newId, url }) {
  const { bigint: idType } = await databases[database]()
  const keyField = (field, column) => field.column(column)
  return open(
    { database, url },
    { idType, keyField, extensions: [], asId: (id) => id, withId: (row) => ({ id: newId(), ...row }) },
  )
}

export const ways = { default: byHand, exact: exactly }
