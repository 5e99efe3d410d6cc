// Drizzle with the default in the database: `flake_id()` in PostgreSQL, a trigger in MariaDB.

import { sql } from 'drizzle-orm'
import * as mysql from 'drizzle-orm/mysql-core'
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2'
import { drizzle as drizzlePostgres } from 'drizzle-orm/node-postgres'
import * as pg from 'drizzle-orm/pg-core'
import { statements as mariadbStatements } from './mariadb.js'
import { statements as postgresStatements } from './postgres.js'

/** drizzle-kit writes such statements from the tables. */
const withDefault = (statements, value) =>
  statements.map((statement) => statement.replace('PRIMARY KEY', `DEFAULT ${value} PRIMARY KEY`))

const DATABASES = {
  postgres(url) {
    const customers = pg.pgTable('customers', {
      id: pg.bigint({ mode: 'bigint' }).primaryKey().default(sql`flake_id()`),
      name: pg.text().notNull(),
    })
    const db = drizzlePostgres(url)
    const run = (statement) => db.execute(sql.raw(statement))
    const insert = async (row) => (await db.insert(customers).values(row).returning())[0]
    return { db, customers, run, insert, statements: withDefault(postgresStatements(), 'flake_id()') }
  },

  mariadb(url) {
    const customers = mysql.mysqlTable('customers', {
      id: mysql.bigint({ mode: 'bigint', unsigned: true }).primaryKey().default(sql`0`),
      name: mysql.varchar({ length: 100 }).notNull(),
    })
    const db = drizzleMysql({ connection: url })
    const run = (statement) => db.execute(sql.raw(statement))
    const insert = async (row) => (await db.insert(customers).values(row).$returningId())[0]
    return { db, customers, run, insert, statements: withDefault(mariadbStatements('bigint unsigned'), '0') }
  },
}

export function open({ database, url }) {
  const { db, customers, run, insert, statements } = DATABASES[database](url)
  return {
    async createTables() {
      for (const statement of statements) await run(statement)
    },

    insert,

    insertMany: (rows) => db.insert(customers).values(rows),

    close: () => db.$client.end(),
  }
}
