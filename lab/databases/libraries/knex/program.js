// Knex: a query builder over the drivers pg, mysql2 (for MariaDB too) and better-sqlite3. An ID is returned as the
// driver returns it. Where a program only calls newId(), yours calls `toSigned(flake.next())`, or `flake.nextBigInt()`
// for MariaDB's unsigned columns.

import knex from 'knex'

/** A column for IDs. */
function idColumn(table, name, database) {
  const column = table.bigInteger(name).notNullable()
  return database === 'mariadb' ? column.unsigned() : column
}

function open({ database, newId }, { replacer, ...config }) {
  const db = knex(config)
  const customers = () => db('customers').select('id', 'name')
  const ordersOf = (customerId) =>
    db('orders').select('id', 'customer_id as customerId', 'item').where('customer_id', customerId)

  const program = {
    async createTables() {
      await db.schema.createTable('customers', (table) => {
        idColumn(table, 'id', database).primary()
        table.string('name').notNullable()
      })
      await db.schema.createTable('orders', (table) => {
        idColumn(table, 'id', database).primary()
        idColumn(table, 'customer_id', database).references('customers.id')
        table.string('item').notNullable()
      })
    },

    // Knex has no hook for default values: the row gets its ID here, and no query is needed to read it back.
    async insert({ name }) {
      const customer = { id: newId(), name }
      await db('customers').insert(customer)
      return customer
    },

    read: (name) => customers().where({ name }).first(),

    filter: (id) => customers().where({ id }).first(),

    range: (min, max) => customers().whereBetween('id', [min, max]),

    order: () => customers().orderBy('id'),

    async max() {
      const { id } = await db('customers').max('id as id').first()
      return id
    },

    async withOrders(id) {
      const customer = await program.filter(id)
      return { ...customer, orders: await ordersOf(customer.id) } // with the ID as it was read
    },

    createWithOrders: ({ name, orders }) =>
      db.transaction(async (transaction) => {
        const customer = { id: newId(), name }
        await transaction('customers').insert(customer)
        const rows = orders.map(({ item }) => ({ id: newId(), customer_id: customer.id, item }))
        await transaction('orders').insert(rows)
        return customer
      }),

    update: (id, { name }) => db('customers').where({ id }).update({ name }),

    async upsert(customer) {
      await db('customers').insert(customer).onConflict('id').merge()
    },

    insertMany(names) {
      const rows = names.map(({ name }) => ({ id: newId(), name }))
      return db.batchInsert('customers', rows, 500) // SQLite accepts no more rows at once in Knex's form
    },

    toJson: async (id) => JSON.stringify(await program.filter(id), replacer),

    fromJson: (text) => program.filter(JSON.parse(text).id),

    close: () => db.destroy(),
  }
  return program
}

/** The same as jsonReplacer of flakeforge. */
const bigintsAsText = (_key, value) => (typeof value === 'bigint' ? String(value) : value)

const DEFAULTS = {
  postgres: (url) => ({ client: 'pg', connection: url }),
  mariadb: (url) => ({ client: 'mysql2', connection: url }),
  sqlite: (url) => ({ client: 'better-sqlite3', connection: { filename: url }, useNullAsDefault: true }),
}

const EXACT = {
  postgres: DEFAULTS.postgres,
  mariadb: (url) => ({ client: 'mysql2', connection: { uri: url, supportBigNumbers: true } }),
  sqlite: (url) => ({
    client: 'better-sqlite3',
    connection: { filename: url, options: { safeIntegers: true } },
    useNullAsDefault: true,
    replacer: bigintsAsText,
  }),
}

export const ways = {
  default: (context) => open(context, DEFAULTS[context.database](context.url)),
  exact: (context) => open(context, EXACT[context.database](context.url)),
}
