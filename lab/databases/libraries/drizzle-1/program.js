// Drizzle 1.0. IDs are bigints. postgres.js, mariadb.js and sqlite.js next to this file have the tables, the connection and
// the setting. Where a program only calls newId(), yours calls `toSigned(flake.next())`, or `flake.nextBigInt()` where the
// column is not signed.

import { asc, between, eq, max, sql } from 'drizzle-orm-1'
import { jsonReplacer } from 'flakeforge'
import * as mariadb from './mariadb.js'
import * as postgres from './postgres.js'
import * as sqlite from './sqlite.js'

const tablesOf = (id, text) => [
  `CREATE TABLE customers (id ${id} PRIMARY KEY, name ${text} NOT NULL)`,
  `CREATE TABLE orders (id ${id} PRIMARY KEY, customer_id ${id} NOT NULL REFERENCES customers (id), item ${text} NOT NULL)`,
  `CREATE TABLE tags (id ${id} PRIMARY KEY, label ${text} NOT NULL)`,
  `CREATE TABLE customer_tags (customer_id ${id} NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
    tag_id ${id} NOT NULL REFERENCES tags (id) ON DELETE CASCADE)`,
]

/** `tables`: db and the tables; the rest differs between the databases; `replacer`: of JSON.stringify. */
function program(tables, { textType, insert, upsert, close }, replacer) {
  const { db, customers, orders, tags, customerTags } = tables
  const { id, name } = customers
  const run = (statement) => (db.run ? db.run(statement) : db.execute(statement))
  const first = async (query) => (await query)[0]
  const select = () => db.select().from(customers)

  return {
    async createTables() {
      for (const statement of tablesOf(id.getSQLType(), textType)) await run(sql.raw(statement))
    },

    insert: (row) => insert(db, customers, row),

    read: (wanted) => first(select().where(eq(name, wanted))),

    filter: (wanted) => first(select().where(eq(id, wanted))),

    range: (min, max) => select().where(between(id, min, max)),

    order: () => select().orderBy(asc(id)),

    max: async () => (await first(db.select({ id: max(id) }).from(customers))).id,

    withOrders: (wanted) => db.query.customers.findFirst({ where: { id: wanted }, with: { orders: true } }),

    /** Drizzle has no nested create. Without a transaction: better-sqlite3's accepts no promises. */
    async createWithOrders({ orders: items, ...row }) {
      const customer = await insert(db, customers, row)
      for (const { item } of items) await insert(db, orders, { customerId: customer.id, item })
      return customer
    },

    update: (wanted, row) => db.update(customers).set(row).where(eq(id, wanted)),

    upsert: (row) => upsert(tables, row),

    async createWithTags({ tags: labels, ...row }) {
      const customer = await insert(db, customers, row)
      for (const { label } of labels) {
        const tag = await insert(db, tags, { label })
        await db.insert(customerTags).values({ customerId: customer.id, tagId: tag.id })
      }
      return customer
    },

    withTags: (wanted) => db.query.customers.findFirst({ where: { id: wanted }, with: { tags: true } }),

    async insertMany(rows) {
      for (let i = 0; i < rows.length; i += 1_000) await db.insert(customers).values(rows.slice(i, i + 1_000))
    },

    toJson: async (wanted) => JSON.stringify(await first(select().where(eq(id, wanted))), replacer),

    fromJson: (text) => first(select().where(eq(id, BigInt(JSON.parse(text).id)))),

    close: () => close(tables),
  }
}

const databases = { postgres, mariadb, sqlite }

export const ways = {
  default: ({ database, url, newId }) => program(databases[database].connect(url, newId), databases[database]),
  exact: ({ database, url, newId }) =>
    program(databases[database].connectExactly(url, newId), databases[database], jsonReplacer),
}
