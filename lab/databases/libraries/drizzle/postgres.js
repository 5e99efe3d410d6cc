// Drizzle on PostgreSQL, with node-postgres.

import { relations } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { jsonReviver } from 'flakeforge'
import pg from 'pg'

export const statements = () => [
  'CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL)',
  'CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint NOT NULL REFERENCES customers, item text NOT NULL)',
]

export function connect(url, newId) {
  const customers = pgTable('customers', {
    id: bigint({ mode: 'bigint' }).primaryKey().$defaultFn(newId),
    name: text().notNull(),
  })
  const orders = pgTable('orders', {
    id: bigint({ mode: 'bigint' }).primaryKey().$defaultFn(newId),
    customerId: bigint('customer_id', { mode: 'bigint' })
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

/** Relational queries build JSON in the database, with large integers. Node.js 22 shows their digits. */
export function connectExactly(url, newId) {
  pg.types.setTypeParser(pg.types.builtins.JSON, (json) => JSON.parse(json, jsonReviver()))
  return connect(url, newId)
}

export async function insert({ db, customers }, row) {
  const [customer] = await db.insert(customers).values(row).returning()
  return customer
}

export const insertWithOrders = (tables, { orders, ...row }) =>
  tables.db.transaction(async (tx) => {
    const customer = await insert({ ...tables, db: tx }, row)
    await tx.insert(tables.orders).values(orders.map((order) => ({ ...order, customerId: customer.id })))
    return customer
  })

export async function upsert({ db, customers }, row) {
  const { id: target } = customers
  const [customer] = await db.insert(customers).values(row).onConflictDoUpdate({ target, set: row }).returning()
  return customer
}

export const close = ({ db }) => db.$client.end()
