// Kysely with the default in the database: `flake_id()` in PostgreSQL, a trigger in MariaDB.

import { Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely'
import mysql from 'mysql2'
import pg from 'pg'

const DATABASES = {
  postgres: {
    dialect: (url) => new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }),
    key: (column) => column.primaryKey().defaultTo(sql`flake_id()`),
    type: 'bigint',
  },
  mariadb: {
    dialect: (url) => new MysqlDialect({ pool: mysql.createPool({ uri: url, supportBigNumbers: true }) }),
    key: (column) => column.primaryKey().defaultTo(0),
    type: sql`bigint unsigned`,
  },
}

export function open({ database, url }) {
  const { dialect, key, type } = DATABASES[database]
  const db = new Kysely({ dialect: dialect(url) })
  return {
    async createTables() {
      const of = (table) => db.schema.createTable(table).addColumn('id', type, key)
      await of('customers').addColumn('name', 'varchar(255)').execute()
      await of('orders').addColumn('customer_id', type).addColumn('item', 'varchar(255)').execute()
    },

    // The dialect for MySQL sends RETURNING to MariaDB, and drops the rows.
    insert: (row) => db.insertInto('customers').values(row).returning(['id', 'name']).executeTakeFirst(),

    insertMany: (rows) => db.insertInto('customers').values(rows).execute(),

    close: () => db.destroy(),
  }
}
