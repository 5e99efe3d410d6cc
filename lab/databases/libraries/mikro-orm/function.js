// MikroORM with the default in the database: `flake_id()` in PostgreSQL, a trigger in MariaDB.

import { defineEntity, p } from '@mikro-orm/core'

const DATABASES = {
  postgres: { driver: () => import('@mikro-orm/postgresql'), key: () => p.bigint().defaultRaw('flake_id()') },
  mariadb: { driver: () => import('@mikro-orm/mariadb'), key: () => p.bigint().default(0) },
}

export async function open({ database, url }) {
  const { driver, key } = DATABASES[database]
  const id = () => key().autoincrement(false).primary()
  const Customer = defineEntity({
    name: 'Customer',
    tableName: 'customers',
    properties: { id: id(), name: p.string(), orders: () => p.oneToMany(Order).mappedBy('customer') },
  })
  const Order = defineEntity({
    name: 'Order',
    tableName: 'orders',
    properties: { id: id(), item: p.string(), customer: () => p.manyToOne(Customer) },
  })
  const { MikroORM } = await driver()
  const orm = await MikroORM.init({ entities: [Customer, Order], clientUrl: url })
  const request = () => orm.em.fork()

  async function create(data) {
    const em = request()
    const customer = em.create(Customer, data)
    await em.flush()
    return customer
  }

  return {
    createTables: () => orm.schema.create(),

    insert: create,

    createWithOrders: create,

    insertMany: (rows) => request().insertMany(Customer, rows),

    close: () => orm.close(true),
  }
}
