// Sequelize 6. IDs are strings.
// Where a program only calls newId(), yours calls `toSigned(flake.next())`, or `flake.nextBigInt()` where the column is not
// signed.

import { DataTypes, Op, Sequelize } from 'sequelize'

/** Models whose IDs have columns of this type. */
function define(sequelize, type, newId) {
  const id = { type, primaryKey: true, defaultValue: () => String(newId()) }
  const options = { timestamps: false, underscored: true }
  const Customer = sequelize.define('Customer', { id, name: DataTypes.TEXT }, { ...options, tableName: 'customers' })
  const Order = sequelize.define('Order', { id, item: DataTypes.TEXT }, { ...options, tableName: 'orders' })
  Customer.hasMany(Order, { as: 'orders', foreignKey: 'customerId' })
  Order.belongsTo(Customer, { as: 'customer', foreignKey: 'customerId' })
  const Tag = sequelize.define('Tag', { id, label: DataTypes.TEXT }, { ...options, tableName: 'tags' })
  const through = sequelize.define('CustomerTag', {}, { ...options, tableName: 'customer_tags' })
  Customer.belongsToMany(Tag, { as: 'tags', through, foreignKey: 'customerId', otherKey: 'tagId' })
  return Customer
}

function open(sequelize, type, newId, maxOptions) {
  const Customer = define(sequelize, type, newId)

  return {
    createTables: () => sequelize.sync(),

    insert: ({ name }) => Customer.create({ name }),

    read: (name) => Customer.findOne({ where: { name } }),

    filter: (id) => Customer.findByPk(String(id)),

    range: (min, max) => Customer.findAll({ where: { id: { [Op.between]: [String(min), String(max)] } } }),

    order: () => Customer.findAll({ order: ['id'] }),

    max: () => Customer.max('id', maxOptions),

    withOrders: (id) => Customer.findByPk(String(id), { include: 'orders' }),

    createWithOrders: ({ name, orders }) => Customer.create({ name, orders }, { include: 'orders' }),

    async update(id, { name }) {
      const customer = await Customer.findByPk(String(id))
      await customer.update({ name })
    },

    async upsert({ id, name }) {
      await Customer.upsert({ id: String(id), name })
    },

    createWithTags: ({ name, tags }) => Customer.create({ name, tags }, { include: 'tags' }),

    withTags: (id) => Customer.findByPk(String(id), { include: 'tags' }),

    insertMany: (rows) => Customer.bulkCreate(rows),

    toJson: async (id) => JSON.stringify(await Customer.findByPk(String(id))),

    fromJson: (text) => Customer.findByPk(JSON.parse(text).id),

    close: () => sequelize.close(),
  }
}

const connections = {
  postgres: (url) => new Sequelize(url, { logging: false }),
  mariadb: (url) => new Sequelize(url, { dialect: 'mariadb', logging: false }),
  sqlite: (url) => new Sequelize({ dialect: 'sqlite', storage: url, logging: false }),
}

/** Text in SQLite: the package sqlite3 reads an integer there as a JavaScript number. */
const exactType = {
  postgres: DataTypes.BIGINT,
  mariadb: DataTypes.BIGINT.UNSIGNED,
  sqlite: DataTypes.STRING(20),
}

export const ways = {
  default: ({ url, database, newId }) => open(connections[database](url), DataTypes.BIGINT, newId),
  exact: ({ url, database, newId }) =>
    open(connections[database](url), exactType[database], newId, { dataType: DataTypes.STRING }), // otherwise parseInt reads it
}
