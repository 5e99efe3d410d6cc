// Knex with the default in the database: `flake_id()` in PostgreSQL, a trigger in MariaDB.

import knex from 'knex'

const DATABASES = {
  postgres: (url) => ({ client: 'pg', connection: url }),
  mariadb: (url) => ({ client: 'mysql2', connection: { uri: url, supportBigNumbers: true } }),
}

export function open({ database, url }) {
  const db = knex(DATABASES[database](url))
  const isMariadb = database === 'mariadb'
  const key = (table) => {
    const column = table.bigInteger('id').notNullable()
    return isMariadb ? column.unsigned().defaultTo(0) : column.defaultTo(db.raw('flake_id()'))
  }
  return {
    async createTables() {
      await db.schema.createTable('customers', (table) => {
        key(table).primary()
        table.string('name').notNullable()
      })
      await db.schema.createTable('orders', (table) => {
        key(table).primary()
        table.bigInteger('customer_id').notNullable()
        table.string('item').notNullable()
      })
    },

    async insert(row) {
      const [inserted] = await db('customers').insert(row).returning(['id', 'name'])
      return isMariadb ? { id: inserted } : inserted // for MariaDB it is the insertId, whatever was asked for
    },

    insertMany: (rows) => db.batchInsert('customers', rows, 500),

    close: () => db.destroy(),
  }
}
