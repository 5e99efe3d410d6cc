// Mongoose, as far as it works without a server: its casts, and the BSON that it would send and has received. `bytes`
// are the transferred form. Where a program only calls newId(), yours calls `toSigned(flake.next())`.

import { jsonReplacer } from 'flakeforge'
import mongoose from 'mongoose'

const { deserialize, serialize } = mongoose.mongo.BSON

function open({ newId }, replacer) {
  const id = { type: BigInt, default: newId }
  const orderSchema = new mongoose.Schema({ _id: id, item: String })
  const schema = new mongoose.Schema({ _id: id, name: String, orders: [orderSchema] })
  const connection = mongoose.createConnection()
  const Customer = connection.model('Customer', schema)

  const received = (bytes) => Customer.hydrate(deserialize(bytes))
  const sent = (document) => serialize(document.toObject())
  const asSent = (query) => serialize(query.cast(Customer))

  return {
    insert(fields) {
      const customer = new Customer(fields)
      return { row: { id: customer._id, name: customer.name }, bytes: sent(customer) }
    },

    read(bytes) {
      const { _id, name } = received(bytes)
      return { id: _id, name }
    },

    filter: (id) => asSent(Customer.findOne({ _id: id })),

    range: (min, max) => asSent(Customer.find({ _id: { $gte: min, $lte: max } })),

    createWithOrders: (fields) => sent(new Customer(fields)),

    update: (id, fields) => asSent(Customer.updateOne({ _id: id }, fields)),

    upsert: ({ id, name }) => asSent(Customer.findOneAndUpdate({ _id: id }, { name }, { upsert: true })),

    insertMany: (customers) => customers.map((fields) => sent(new Customer(fields))),

    toJson: (bytes) => JSON.stringify(received(bytes), replacer),

    fromJson: (text) => asSent(Customer.findOne({ _id: JSON.parse(text)._id })),

    close: () => connection.close(),
  }
}

export const ways = {
  default: (context) => open(context),
  exact: (context) => open(context, jsonReplacer),
}
