// Sequelize 6 with the default in the database: `flake_id()` in PostgreSQL, a trigger in MariaDB.

import { DataTypes, Sequelize } from 'sequelize'

const DATABASES = {
  postgres: (url) => {
    const sequelize = new Sequelize(url, { logging: false })
    return { sequelize, type: DataTypes.BIGINT, defaultValue: sequelize.fn('flake_id') }
  },
  mariadb: (url) => ({
    sequelize: new Sequelize(url, { dialect: 'mariadb', logging: false }),
    type: DataTypes.BIGINT.UNSIGNED,
    defaultValue: 0,
  }),
}

export function open({ database, url }) {
  const { sequelize, type, defaultValue } = DATABASES[database](url)
  const id = { type, primaryKey: true, defaultValue }
  const options = { timestamps: false, underscored: true }
  const Customer = sequelize.define('Customer', { id, name: DataTypes.TEXT }, { ...options, tableName: 'customers' })
  const Order = sequelize.define('Order', { id, item: DataTypes.TEXT }, { ...options, tableName: 'orders' })
  Customer.hasMany(Order, { as: 'orders', foreignKey: 'customerId' })
  return {
    createTables: () => sequelize.sync(),

    insert: (row) => Customer.create(row),

    createWithOrders: (row) => Customer.create(row, { include: 'orders' }),

    insertMany: (rows) => Customer.bulkCreate(rows),

    close: () => sequelize.close(),
  }
}
