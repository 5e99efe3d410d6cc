// The contract, as Prisma 8 calls its schema, in JavaScript: no command has to generate a client from it.

/** `idType`: the type of the ID columns; `keyField(field, idType)`: the field of a primary key. */
export function contractOf({ defineContract, field, model, rel, text }, idType, keyField) {
  const key = () => keyField(field, idType).id()
  const reference = (column) => field.column(idType).column(column)

  const Order = model('Order', {
    fields: { id: key(), customerId: reference('customer_id'), item: field.column(text) },
  }).sql({ table: 'orders' })
  const Tag = model('Tag', { fields: { id: key(), label: field.column(text) } }).sql({ table: 'tags' })
  const CustomerTag = model('CustomerTag', {
    fields: { customerId: reference('customer_id'), tagId: reference('tag_id') },
  })
    .attributes(({ fields, constraints }) => ({ id: constraints.id([fields.customerId, fields.tagId]) }))
    .sql({ table: 'customer_tags' })
  const Customer = model('Customer', { fields: { id: key(), name: field.column(text) } })
    .relations({
      orders: rel.hasMany(Order, { by: 'customerId' }),
      tags: rel.manyToMany(() => Tag, { through: () => CustomerTag, from: 'customerId', to: 'tagId' }),
    })
    .sql({ table: 'customers' })

  return defineContract({ models: { Customer, Order, Tag, CustomerTag } })
}
