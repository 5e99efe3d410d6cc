// Drizzle 1.0 with the default in the database: `flake_id()` in PostgreSQL, a trigger in MariaDB.

import { sql } from 'drizzle-orm-1'
import * as mysql from 'drizzle-orm-1/mysql-core'
import { drizzle as drizzleMysql } from 'drizzle-orm-1/mysql2'
import { drizzle as drizzlePostgres } from 'drizzle-orm-1/node-postgres'
import * as pg from 'drizzle-orm-1/pg-core'

/** drizzle-kit writes such statements from the tables. */
const tablesOf = (id, value, text) => [
  `CREATE TABLE customers (id ${id} NOT NULL DEFAULT ${value} PRIMARY KEY, name ${text} NOT NULL)`,
  `CREATE TABLE orders (id ${id} NOT NULL DEFAULT ${value} PRIMARY KEY, customer_id ${id} NOT NULL, item ${text} NOT NULL)`,
]

const DATABASES = {
  postgres(url) {
    const customers = pg.pgTable('customers', {
      id: pg.bigint({ mode: 'bigint' }).primaryKey().default(sql`flake_id()`),
      name: pg.text().notNull(),
    })
    const db = drizzlePostgres(url)
    const insert = async (row) => (await db.insert(customers).values(row).returning())[0]
    return { db, customers, insert, statements: tablesOf('bigint', 'flake_id()', 'text') }
  },

  mariadb(url) {
    const customers = mysql.mysqlTable('customers', {
      id: mysql.bigint({ mode: 'bigint', unsigned: true }).primaryKey().default(sql`0`),
      name: mysql.varchar({ length: 100 }).notNull(),
    })
    const db = drizzleMysql(url)
    const insert = async (row) => (await db.insert(customers).values(row).$returningId())[0]
    return { db, customers, insert, statements: tablesOf('bigint unsigned', '0', 'varchar(100)') }
  },
}

export function open({ database, url }) {
  const { db, customers, insert, statements } = DATABASES[database](url)
  return {
    async createTables() {
      for (const statement of statements) await db.execute(sql.raw(statement))
    },

    insert,

    insertMany: (rows) => db.insert(customers).values(rows),

    close: () => db.$client.end(),
  }
}
