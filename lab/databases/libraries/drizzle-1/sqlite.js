// Drizzle 1.0 on SQLite, with better-sqlite3.

import { drizzle } from 'drizzle-orm-1/better-sqlite3'
import { customType, integer, sqliteTable, text } from 'drizzle-orm-1/sqlite-core'
import { format, toBigInt } from 'flakeforge'
import { relationsOf } from './relations.js'

export const textType = 'text'

/** An ID in a column of text: `integer()` has no mode for bigints. */
const flakeId = customType({ dataType: () => 'varchar(20)', toDriver: (id) => format(id), fromDriver: toBigInt })

/** `id`: the column type of IDs. */
export function connect(url, newId, id = integer) {
  const key = () => id('id').primaryKey().$defaultFn(newId)
  const tables = {
    customers: sqliteTable('customers', { id: key(), name: text().notNull() }),
    orders: sqliteTable('orders', { id: key(), customerId: id('customer_id').notNull(), item: text().notNull() }),
    tags: sqliteTable('tags', { id: key(), label: text().notNull() }),
    customerTags: sqliteTable('customer_tags', {
      customerId: id('customer_id').notNull(),
      tagId: id('tag_id').notNull(),
    }),
  }
  return { db: drizzle(url, { relations: relationsOf(tables) }), ...tables }
}

export const connectExactly = (url, newId) => connect(url, newId, flakeId)

export const insert = (db, table, row) => db.insert(table).values(row).returning().get()

export const upsert = ({ db, customers }, row) =>
  db.insert(customers).values(row).onConflictDoUpdate({ target: customers.id, set: row }).returning().get()

export const close = ({ db }) => db.$client.close()
