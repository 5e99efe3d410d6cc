// MikroORM: entities in plain JavaScript, and a unit of work for each request. A property of type bigint is a
// JavaScript bigint, and text in JSON. On SQLite the driver rounds an ID before MikroORM sees it: sqlite.js has one
// that does not. Where this program only calls newId(), yours calls `toSigned(flake.next())`; on MariaDB, where
// MikroORM creates unsigned primary keys, it is `flake.nextBigInt()`.

import assert from 'node:assert/strict'
import { defineEntity, p, raw } from '@mikro-orm/core'
import { readingBigInts } from './sqlite.js'

const DRIVERS = {
  postgres: () => import('@mikro-orm/postgresql'),
  mariadb: () => import('@mikro-orm/mariadb'),
  sqlite: () => import('@mikro-orm/sqlite'),
}

/** The entities. `key()` creates the property of an ID. */
function entitiesOf(newId, key) {
  const Customer = defineEntity({
    name: 'Customer',
    tableName: 'customers',
    properties: {
      id: key().primary().onCreate(newId),
      name: p.string(),
      orders: () => p.oneToMany(Order).mappedBy('customer'), // inserted with their customer
      tags: () => p.manyToMany(Tag).pivotTable('customer_tags').joinColumn('customer_id').inverseJoinColumn('tag_id'),
    },
  })
  const Order = defineEntity({
    name: 'Order',
    tableName: 'orders',
    properties: {
      id: key().primary().onCreate(newId),
      item: p.string(),
      customer: () => p.manyToOne(Customer),
    },
  })
  const Tag = defineEntity({
    name: 'Tag',
    tableName: 'tags',
    properties: { id: key().primary().onCreate(newId), label: p.string() },
  })
  return { Customer, Order, Tag }
}

async function open({ database, url, newId }, { key, options, insertMany, loadOrders }) {
  const { MikroORM } = await DRIVERS[database]()
  const { Customer, Order, Tag } = entitiesOf(newId, key)
  const orm = await MikroORM.init({
    entities: [Customer, Order, Tag],
    ...(database === 'sqlite' ? { dbName: url } : { clientUrl: url }),
    ...options,
  })
  const request = () => orm.em.fork() // a server creates one for each request

  async function create(data) {
    const em = request()
    const customer = em.create(Customer, data)
    await em.flush()
    return customer
  }

  return {
    createTables: () => orm.schema.create(),

    insert: create,

    read: (name) => request().findOne(Customer, { name }),

    filter: (id) => request().findOne(Customer, { id }),

    range: (min, max) => request().find(Customer, { id: { $gte: min, $lte: max } }),

    order: () => request().find(Customer, {}, { orderBy: { id: 'asc' } }),

    async max() {
      const { id } = await request().createQueryBuilder(Customer).select(raw('max(id) as id')).execute('get')
      return id
    },

    async withOrders(id) {
      const customer = await loadOrders(request, Customer, id)
      const orders = customer.orders.map(({ id, item, customer: { id: customerId } }) => ({ id, item, customerId }))
      return { id: customer.id, name: customer.name, orders }
    },

    createWithOrders: create,

    async update(id, { name }) {
      const em = request()
      const customer = await em.findOneOrFail(Customer, { id })
      customer.name = name
      await em.flush()
    },

    upsert: (row) => request().upsert(Customer, row),

    createWithTags: create,

    withTags: (id) => request().findOneOrFail(Customer, { id }, { populate: ['tags'] }),

    insertMany: (customers) => insertMany(request(), Customer, customers),

    toJson: async (id) => JSON.stringify(await request().findOne(Customer, { id })),

    fromJson: (text) => request().findOne(Customer, { id: JSON.parse(text).id }), // text works as well as a bigint here

    close: () => orm.close(true),
  }
}

/** Both ways to load a relation must give the same. */
async function withEachStrategy(request, Customer, id) {
  const load = (strategy) => request().findOneOrFail(Customer, { id }, { populate: ['orders'], strategy })
  const [joined, separate] = [await load('joined'), await load('select-in')]
  assert.equal(JSON.stringify(joined), JSON.stringify(separate))
  return joined
}

export const ways = {
  default: (context) =>
    open(context, {
      key: () => p.bigint(),
      insertMany: (em, Customer, rows) => em.insertMany(Customer, rows),
      loadOrders: (request, Customer, id) => request().findOneOrFail(Customer, { id }, { populate: ['orders'] }),
    }),

  exact: (context) =>
    open(context, {
      key: () => p.bigint().autoincrement(false), // a row without an ID is an error, not row 1
      options: context.database === 'sqlite' ? { driverOptions: readingBigInts(context.url) } : {},
      // insertMany does not call onCreate. em.create does.
      insertMany: (em, Customer, rows) =>
        em.insertMany(rows.map((row) => em.create(Customer, row, { persist: false }))),
      loadOrders: withEachStrategy,
    }),
}
