// Drizzle on MariaDB, with mysql2.

import { relations } from 'drizzle-orm'
import { bigint, customType, mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import { drizzle } from 'drizzle-orm/mysql2'
import { format, toBigInt } from 'flakeforge'

export const statements = (type) => [
  `CREATE TABLE customers (id ${type} PRIMARY KEY, name varchar(100) NOT NULL)`,
  `CREATE TABLE orders (id ${type} PRIMARY KEY, customer_id ${type} NOT NULL REFERENCES customers (id),
    item varchar(100) NOT NULL)`,
]

const unsignedBigint = (name) => bigint(name, { mode: 'bigint', unsigned: true })

/**
 * An ID in a column of text. JSON keeps text unchanged, and so do relational queries, which build JSON in the database.
 */
const flakeId = customType({ dataType: () => 'varchar(20)', toDriver: (id) => format(id), fromDriver: toBigInt })

/** `id`: the column type of IDs. */
export function connect(url, newId, id = unsignedBigint) {
  const customers = mysqlTable('customers', {
    id: id('id').primaryKey().$defaultFn(newId),
    name: varchar({ length: 100 }).notNull(),
  })
  const orders = mysqlTable('orders', {
    id: id('id').primaryKey().$defaultFn(newId),
    customerId: id('customer_id')
      .notNull()
      .references(() => customers.id),
    item: varchar({ length: 100 }).notNull(),
  })
  const ordersOfCustomers = relations(customers, ({ many }) => ({ orders: many(orders) }))
  const customersOfOrders = relations(orders, ({ one }) => ({
    customer: one(customers, { fields: [orders.customerId], references: [customers.id] }),
  }))
  const schema = { customers, orders, ordersOfCustomers, customersOfOrders }
  const mode = 'planetscale' // the relational queries of mode 'default' need LATERAL, which MariaDB does not have
  return { db: drizzle(url, { schema, mode }), customers, orders }
}

export const connectExactly = (url, newId) => connect(url, newId, flakeId)

/** MariaDB returns no rows: $returningId() has the values of $defaultFn. */
export async function insert({ db, customers }, row) {
  const [{ id }] = await db.insert(customers).values(row).$returningId()
  return { id, ...row }
}

export const insertWithOrders = (tables, { orders, ...row }) =>
  tables.db.transaction(async (tx) => {
    const customer = await insert({ ...tables, db: tx }, row)
    await tx.insert(tables.orders).values(orders.map((order) => ({ ...order, customerId: customer.id })))
    return customer
  })

export async function upsert({ db, customers }, row) {
  await db.insert(customers).values(row).onDuplicateKeyUpdate({ set: row })
}

export const close = ({ db }) => db.$client.end()
