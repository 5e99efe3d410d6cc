// Kysely: a typed query builder over the drivers pg, mysql2 (for MariaDB too) and better-sqlite3. An ID is returned as
// the driver returns it, but a relation is JSON built by the database, and JSON.parse rounds it. Where a program only
// calls newId(), yours calls `toSigned(flake.next())`, or `flake.nextBigInt()` for MariaDB.

import SQLite from 'better-sqlite3'
import { Kysely, MysqlDialect, ParseJSONResultsPlugin, PostgresDialect, SqliteDialect, sql } from 'kysely'
import * as postgresHelpers from 'kysely/helpers/postgres'
import * as sqliteHelpers from 'kysely/helpers/sqlite'
import mysql from 'mysql2'
import pg from 'pg'

const COLUMNS = { postgres: 'bigint', mariadb: 'bigint unsigned', sqlite: 'integer' }
const HELPERS = { postgres: postgresHelpers, sqlite: sqliteHelpers } // those for MySQL do not work on MariaDB
const BULK = 1000 // rows of one INSERT: each database has a limit for its parameters

/** An ID in JSON built by the database. */
const asNumber = (from, column) => from.ref(column)
const asText = (from, column) => from.cast(column, 'text')

const ordersOf = (db, id, inJson = asNumber) =>
  db
    .selectFrom('orders')
    .select((order) => [inJson(order, 'orders.id').as('id'), inJson(order, 'customer_id').as('customerId'), 'item'])
    .where('customer_id', '=', id)

/** A customer with its orders in one statement: Kysely's way for relations. */
function relation(db, { jsonArrayFrom }, id, inJson) {
  const withOrders = (customers) => [
    'id',
    'name',
    jsonArrayFrom(ordersOf(customers, customers.ref('customers.id'), inJson)).as('orders'),
  ]
  return db.selectFrom('customers').select(withOrders).where('id', '=', id).executeTakeFirst()
}

function jsonOf(db, { jsonBuildObject }, id, inJson) {
  const make = (customers) =>
    jsonBuildObject({ id: inJson(customers, 'id'), name: customers.ref('name') }).as('customer')
  return db.selectFrom('customers').select(make).where('id', '=', id).executeTakeFirst()
}

function open({ database, newId }, { replacer, inJson = asNumber, ...config }) {
  const db = new Kysely(config)
  const helpers = HELPERS[database]
  const idType = sql.raw(COLUMNS[database])
  const customers = () => db.selectFrom('customers').select(['id', 'name'])

  const program = {
    async createTables() {
      await db.schema
        .createTable('customers')
        .addColumn('id', idType, (column) => column.primaryKey())
        .addColumn('name', 'varchar(255)', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('orders')
        .addColumn('id', idType, (column) => column.primaryKey())
        .addColumn('customer_id', idType, (column) => column.notNull())
        .addColumn('item', 'varchar(255)', (column) => column.notNull())
        .addForeignKeyConstraint('orders_of', ['customer_id'], 'customers', ['id'])
        .execute()
    },

    // Kysely has no hook for default values: the row gets its ID here, and no query is needed to read it back.
    async insert({ name }) {
      const customer = { id: newId(), name }
      await db.insertInto('customers').values(customer).execute()
      return customer
    },

    read: (name) => customers().where('name', '=', name).executeTakeFirst(),

    filter: (id) => customers().where('id', '=', id).executeTakeFirst(),

    range: (min, max) =>
      customers()
        .where((customer) => customer.between('id', min, max))
        .execute(),

    order: () => customers().orderBy('id').execute(),

    async max() {
      const { id } = await db.selectFrom('customers').select(db.fn.max('id').as('id')).executeTakeFirst()
      return id
    },

    async withOrders(id) {
      if (helpers !== undefined) return relation(db, helpers, id, inJson)
      const customer = await program.filter(id)
      return { ...customer, orders: await ordersOf(db, id).execute() }
    },

    createWithOrders: ({ name, orders }) =>
      db.transaction().execute(async (transaction) => {
        const customer = { id: newId(), name }
        await transaction.insertInto('customers').values(customer).execute()
        const rows = orders.map(({ item }) => ({ id: newId(), customer_id: customer.id, item }))
        await transaction.insertInto('orders').values(rows).execute()
        return customer
      }),

    update: (id, { name }) => db.updateTable('customers').set({ name }).where('id', '=', id).execute(),

    async upsert({ id, name }) {
      const insert = db.insertInto('customers').values({ id, name })
      const isMariadb = database === 'mariadb'
      await (isMariadb
        ? insert.onDuplicateKeyUpdate({ name })
        : insert.onConflict((conflict) => conflict.column('id').doUpdateSet({ name }))
      ).execute()
    },

    async insertMany(names) {
      const rows = names.map(({ name }) => ({ id: newId(), name }))
      for (let i = 0; i < rows.length; i += BULK) {
        await db
          .insertInto('customers')
          .values(rows.slice(i, i + BULK))
          .execute()
      }
    },

    toJson: async (id) => JSON.stringify(await program.filter(id), replacer),

    fromJson: (text) => program.filter(JSON.parse(text).id),

    close: () => db.destroy(),
  }
  if (helpers !== undefined) program.databaseJson = async (id) => (await jsonOf(db, helpers, id, inJson)).customer
  return program
}

/** The same as jsonReplacer of flakeforge. */
const bigintsAsText = (_key, value) => (typeof value === 'bigint' ? String(value) : value)

const DEFAULTS = {
  postgres: (url) => ({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) }),
  mariadb: (url) => ({ dialect: new MysqlDialect({ pool: mysql.createPool(url) }) }),
  sqlite: (url) => ({
    dialect: new SqliteDialect({ database: new SQLite(url) }),
    plugins: [new ParseJSONResultsPlugin()],
  }),
}

const EXACT = {
  postgres: (url) => ({ ...DEFAULTS.postgres(url), inJson: asText }),
  mariadb: (url) => ({ dialect: new MysqlDialect({ pool: mysql.createPool({ uri: url, supportBigNumbers: true }) }) }),
  sqlite: (url) => ({
    dialect: new SqliteDialect({ database: new SQLite(url).defaultSafeIntegers() }),
    plugins: [new ParseJSONResultsPlugin()],
    inJson: asText,
    replacer: bigintsAsText,
  }),
}

export const ways = {
  default: (context) => open(context, DEFAULTS[context.database](context.url)),
  exact: (context) => open(context, EXACT[context.database](context.url)),
}
