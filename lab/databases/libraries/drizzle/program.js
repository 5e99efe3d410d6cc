// Drizzle. IDs are bigints. postgres.js, mariadb.js and sqlite.js next to this file have the tables, the connection and
// the setting. Where a program only calls newId(), yours calls `toSigned(flake.next())`, or `flake.nextBigInt()` where
// the column is not signed.

import { asc, between, eq, max, sql } from 'drizzle-orm'
import { jsonReplacer } from 'flakeforge'
import * as mariadb from './mariadb.js'
import * as postgres from './postgres.js'
import * as sqlite from './sqlite.js'

/** `tables`: db, customers and orders; the rest differs between the databases; `replacer`: of JSON.stringify. */
function program(tables, { statements, insert, insertWithOrders, upsert, close }, replacer) {
  const { db, customers } = tables
  const { id, name } = customers
  const run = (statement) => (db.run ? db.run(statement) : db.execute(statement))
  const first = async (query) => (await query)[0]

  return {
    async createTables() {
      for (const statement of statements(id.getSQLType())) await run(sql.raw(statement))
    },

    insert: (row) => insert(tables, row),

    read: (wanted) => first(db.select().from(customers).where(eq(name, wanted))),

    filter: (wanted) => first(db.select().from(customers).where(eq(id, wanted))),

    range: (min, max) =>
      db
        .select()
        .from(customers)
        .where(between(id, min, max)),

    order: () => db.select().from(customers).orderBy(asc(id)),

    max: async () => (await first(db.select({ id: max(id) }).from(customers))).id,

    withOrders: (wanted) => db.query.customers.findFirst({ where: eq(id, wanted), with: { orders: true } }),

    createWithOrders: (row) => insertWithOrders(tables, row),

    update: (wanted, row) => db.update(customers).set(row).where(eq(id, wanted)),

    upsert: (row) => upsert(tables, row),

    async insertMany(rows) {
      for (let i = 0; i < rows.length; i += 1_000) await db.insert(customers).values(rows.slice(i, i + 1_000))
    },

    toJson: async (wanted) => JSON.stringify(await first(db.select().from(customers).where(eq(id, wanted))), replacer),

    fromJson: (text) =>
      first(
        db
          .select()
          .from(customers)
          .where(eq(id, BigInt(JSON.parse(text).id))),
      ),

    close: () => close(tables),
  }
}

const databases = { postgres, mariadb, sqlite }

export const ways = {
  default: ({ database, url, newId }) => program(databases[database].connect(url, newId), databases[database]),
  exact: ({ database, url, newId }) =>
    program(databases[database].connectExactly(url, newId), databases[database], jsonReplacer),
}
