// Drizzle on SQLite, with better-sqlite3.

import { relations } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { customType, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { format, toBigInt } from 'flakeforge'

export const statements = (type) => [
  `CREATE TABLE customers (id ${type} PRIMARY KEY, name text NOT NULL)`,
  `CREATE TABLE orders (id ${type} PRIMARY KEY, customer_id ${type} NOT NULL REFERENCES customers, item text NOT NULL)`,
]

/**
 * An ID in a column of text. JSON keeps text unchanged, and so do relational queries, which build JSON in the database.
 */
const flakeId = customType({ dataType: () => 'varchar(20)', toDriver: (id) => format(id), fromDriver: toBigInt })

/** `id`: the column type of IDs. */
export function connect(url, newId, id = integer) {
  const customers = sqliteTable('customers', {
    id: id('id').primaryKey().$defaultFn(newId),
    name: text().notNull(),
  })
  const orders = sqliteTable('orders', {
    id: id('id').primaryKey().$defaultFn(newId),
    customerId: id('customer_id')
      .notNull()
      .references(() => customers.id),
    item: text().notNull(),
  })
  const ordersOfCustomers = relations(customers, ({ many }) => ({ orders: many(orders) }))
  const customersOfOrders = relations(orders, ({ one }) => ({
    customer: one(customers, { fields: [orders.customerId], references: [customers.id] }),
  }))
  const schema = { customers, orders, ordersOfCustomers, customersOfOrders }
  return { db: drizzle(url, { schema }), customers, orders }
}

export const connectExactly = (url, newId) => connect(url, newId, flakeId)

export const insert = ({ db, customers }, row) => db.insert(customers).values(row).returning().get()

/** better-sqlite3 is synchronous: its transactions accept no promises. */
export const insertWithOrders = (tables, { orders, ...row }) =>
  tables.db.transaction((tx) => {
    const customer = insert({ ...tables, db: tx }, row)
    const rows = orders.map((order) => ({ ...order, customerId: customer.id }))
    tx.insert(tables.orders).values(rows).run()
    return customer
  })

export const upsert = ({ db, customers }, row) =>
  db.insert(customers).values(row).onConflictDoUpdate({ target: customers.id, set: row }).returning().get()

export const close = ({ db }) => db.$client.close()
