// Drizzle 1.0 on PostgreSQL, with node-postgres. Relational queries cast IDs to text in the JSON that they build in the
// database, so there is nothing to set.

import { drizzle } from 'drizzle-orm-1/node-postgres'
import { bigint, pgTable, text } from 'drizzle-orm-1/pg-core'
import { relationsOf } from './relations.js'

export const textType = 'text'

export function connect(url, newId) {
  const id = (name) => bigint(name, { mode: 'bigint' })
  const key = () => id('id').primaryKey().$defaultFn(newId)
  const tables = {
    customers: pgTable('customers', { id: key(), name: text().notNull() }),
    orders: pgTable('orders', { id: key(), customerId: id('customer_id').notNull(), item: text().notNull() }),
    tags: pgTable('tags', { id: key(), label: text().notNull() }),
    customerTags: pgTable('customer_tags', { customerId: id('customer_id').notNull(), tagId: id('tag_id').notNull() }),
  }
  return { db: drizzle(url, { relations: relationsOf(tables) }), ...tables }
}

export const connectExactly = connect

export async function insert(db, table, row) {
  const [inserted] = await db.insert(table).values(row).returning()
  return inserted
}

export async function upsert({ db, customers }, row) {
  const { id: target } = customers
  const [customer] = await db.insert(customers).values(row).onConflictDoUpdate({ target, set: row }).returning()
  return customer
}

export const close = ({ db }) => db.$client.end()
