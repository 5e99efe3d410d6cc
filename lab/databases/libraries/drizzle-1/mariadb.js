// Drizzle 1.0 on MariaDB, with mysql2. Drizzle casts IDs to text in what it selects, so there is nothing to set.

import { bigint, mysqlTable, varchar } from 'drizzle-orm-1/mysql-core'
import { drizzle } from 'drizzle-orm-1/mysql2'
import { relationsOf } from './relations.js'

export const textType = 'varchar(100)'

export function connect(url, newId) {
  const id = (name) => bigint(name, { mode: 'bigint', unsigned: true })
  const key = () => id('id').primaryKey().$defaultFn(newId)
  const text = () => varchar({ length: 100 }).notNull()
  const tables = {
    customers: mysqlTable('customers', { id: key(), name: text() }),
    orders: mysqlTable('orders', { id: key(), customerId: id('customer_id').notNull(), item: text() }),
    tags: mysqlTable('tags', { id: key(), label: text() }),
    customerTags: mysqlTable('customer_tags', {
      customerId: id('customer_id').notNull(),
      tagId: id('tag_id').notNull(),
    }),
  }
  return { db: drizzle(url, { relations: relationsOf(tables) }), ...tables }
}

export const connectExactly = connect

/** MariaDB returns no rows: $returningId() has the values of $defaultFn. */
export async function insert(db, table, row) {
  const [inserted] = await db.insert(table).values(row).$returningId()
  return { ...inserted, ...row }
}

export async function upsert({ db, customers }, row) {
  await db.insert(customers).values(row).onDuplicateKeyUpdate({ set: row })
}

export const close = ({ db }) => db.$client.end()
