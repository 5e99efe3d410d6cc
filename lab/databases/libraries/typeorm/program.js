// TypeORM, with EntitySchema: the same in JavaScript and TypeScript, without decorators. IDs are strings. Where a
// program only calls newId(), yours calls `toSigned(flake.next())`, or `flake.nextBigInt()` where the column is not
// signed.

import { Between, DataSource, EntitySchema, EventSubscriber } from 'typeorm'

/** Entities whose IDs have columns of this type. */
function entities(id) {
  const joinTable = {
    name: 'customer_tags',
    joinColumn: { name: 'customer_id' },
    inverseJoinColumn: { name: 'tag_id' },
  }
  const Customer = new EntitySchema({
    name: 'Customer',
    tableName: 'customers',
    columns: { id: { ...id, primary: true }, name: { type: 'text' } },
    relations: {
      orders: { type: 'one-to-many', target: 'Order', inverseSide: 'customer', cascade: true },
      tags: { type: 'many-to-many', target: 'Tag', cascade: true, joinTable },
    },
  })
  const Order = new EntitySchema({
    name: 'Order',
    tableName: 'orders',
    columns: {
      id: { ...id, primary: true },
      customerId: { ...id, name: 'customer_id' },
      item: { type: 'text' },
    },
    relations: {
      customer: {
        type: 'many-to-one',
        target: 'Customer',
        inverseSide: 'orders',
        joinColumn: { name: 'customer_id' },
      },
    },
  })
  const Tag = new EntitySchema({
    name: 'Tag',
    tableName: 'tags',
    columns: { id: { ...id, primary: true }, label: { type: 'text' } },
  })
  return { Customer, Order, Tag }
}

/** Gives an ID to every new entity without one: in save(), in its cascades and in insert(). */
function idSubscriber(newId) {
  class IdSubscriber {
    beforeInsert({ entity }) {
      if (entity) entity.id ??= String(newId()) // a row of a join table has none
    }
  }
  EventSubscriber()(IdSubscriber) // in TypeScript: @EventSubscriber() before the class
  return IdSubscriber
}

/** maximum() and minimum() convert the database's value to a number. */
const roundedMax = (customers) => customers.maximum('id')

async function exactMax(customers) {
  const { id } = await customers.createQueryBuilder('customer').select('MAX(customer.id)', 'id').getRawOne()
  return id
}

async function open(connection, id, newId, max) {
  const { Customer, Order, Tag } = entities(id)
  const source = new DataSource({ ...connection, entities: [Customer, Order, Tag], subscribers: [idSubscriber(newId)] })
  await source.initialize()
  const customers = source.getRepository(Customer)

  return {
    createTables: () => source.synchronize(),

    insert: ({ name }) => customers.save({ name }),

    read: (name) => customers.findOneBy({ name }),

    filter: (id) => customers.findOneBy({ id: String(id) }),

    range: (min, max) => customers.findBy({ id: Between(String(min), String(max)) }),

    order: () => customers.find({ order: { id: 'ASC' } }),

    max: () => max(customers),

    withOrders: (id) => customers.findOne({ where: { id: String(id) }, relations: { orders: true } }),

    createWithOrders: ({ name, orders }) => customers.save({ name, orders }),

    async update(id, { name }) {
      const customer = await customers.findOneBy({ id: String(id) })
      await customers.save({ ...customer, name })
    },

    async upsert({ id, name }) {
      await customers.upsert({ id: String(id), name }, ['id'])
    },

    createWithTags: ({ name, tags }) => customers.save({ name, tags }),

    withTags: (id) => customers.findOne({ where: { id: String(id) }, relations: { tags: true } }),

    insertMany: (rows) => customers.insert(rows),

    toJson: async (id) => JSON.stringify(await customers.findOneBy({ id: String(id) })),

    fromJson: (text) => customers.findOneBy({ id: JSON.parse(text).id }),

    close: () => source.destroy(),
  }
}

const connections = {
  postgres: (url) => ({ type: 'postgres', url }),
  mariadb: (url) => ({ type: 'mariadb', url }),
  sqlite: (url) => ({ type: 'better-sqlite3', database: url }),
}

/** Text in SQLite: TypeORM reads an integer there as a JavaScript number. */
const exactId = {
  postgres: { type: 'bigint' },
  mariadb: { type: 'bigint', unsigned: true },
  sqlite: { type: 'varchar', length: 20 },
}

export const ways = {
  default: ({ url, database, newId }) => open(connections[database](url), { type: 'bigint' }, newId, roundedMax),
  exact: ({ url, database, newId }) => open(connections[database](url), exactId[database], newId, exactMax),
}
