// Drives a library of MongoDB without a server, which Debian does not have: compares the BSON that it would send, and
// the values that it reads from BSON, with the truth. The bytes are written and read here, by the specification
// (bsonspec.org), and never by a package under test. A server's answers are not tested.

import { BULK, OPERATIONS, outcomeOf } from './check.js'
import { expectGiven, expectId, expectRow, expectSame } from './compare.js'
import { Ids, SIZES } from './ids.js'

const [STRING, DOCUMENT, ARRAY, INT32, INT64] = [0x02, 0x03, 0x04, 0x10, 0x12]

/** { _id: int64, name: string } */
function bytesOf({ id, name }) {
  const [int64, int32] = [Buffer.alloc(8), Buffer.alloc(4)]
  int64.writeBigInt64LE(id)
  int32.writeInt32LE(Buffer.byteLength(name) + 1)
  const body = Buffer.concat([
    Buffer.from([INT64]),
    Buffer.from('_id\0'),
    int64,
    Buffer.from([STRING]),
    Buffer.from('name\0'),
    int32,
    Buffer.from(`${name}\0\0`),
  ])
  const length = Buffer.alloc(4)
  length.writeInt32LE(body.length + 4)
  return Buffer.concat([length, body])
}

/** The length and the value of each type. */
const READ = {
  [STRING]: (bytes, at) => {
    const length = bytes.readInt32LE(at)
    return [4 + length, bytes.toString('utf8', at + 4, at + 3 + length)]
  },
  [DOCUMENT]: (bytes, at) => [bytes.readInt32LE(at), fieldsOf(bytes.subarray(at))],
  [ARRAY]: (bytes, at) => [bytes.readInt32LE(at), Object.values(fieldsOf(bytes.subarray(at)))],
  [INT32]: (bytes, at) => [4, bytes.readInt32LE(at)],
  [INT64]: (bytes, at) => [8, bytes.readBigInt64LE(at)],
}

/** The fields of a document of these types; another type, such as a double, is an error that names it. */
function fieldsOf(document) {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.length)
  const fields = {}
  const end = bytes.readInt32LE(0) - 1
  for (let at = 4; at < end; ) {
    const type = bytes[at]
    const nameEnd = bytes.indexOf(0, at + 1)
    const name = bytes.toString('utf8', at + 1, nameEnd)
    if (READ[type] === undefined) throw new Error(`${name} is of the BSON type 0x${type.toString(16)}`)
    const [length, value] = READ[type](bytes, nameEnd + 1)
    fields[name] = value
    at = nameEnd + 1 + length
  }
  return fields
}

const CHECKS = {
  async read({ program, rows }) {
    for (const row of rows) expectRow(program.read(bytesOf(row)), row)
  },

  async filter({ program, rows }) {
    for (const { id } of rows) expectId(fieldsOf(program.filter(id))._id, id)
  },

  async range({ program, ids }) {
    const [min, max] = ids.range(1)
    const { _id } = fieldsOf(program.range(min, max))
    expectId(_id.$gte, min, '$gte')
    expectId(_id.$lte, max, '$lte')
  },

  async json({ program, rows }) {
    for (const row of rows) {
      const text = program.toJson(bytesOf(row))
      const { _id, name } = JSON.parse(text)
      expectRow({ id: _id, name }, row)
      expectId(fieldsOf(program.fromJson(text))._id, row.id)
    }
    const sent = program.createWithOrders({ name: 'nested', orders: [{ item: 'first' }] })
    const [order] = JSON.parse(program.toJson(sent)).orders
    expectId(order._id, fieldsOf(sent).orders[0]._id, 'orders[]._id')
  },

  async insert({ program, given }) {
    const { row, bytes } = program.insert({ name: 'inserted' })
    const [id] = expectGiven(given, 1)
    expectId(fieldsOf(bytes)._id, id)
    expectRow(row, { id, name: 'inserted' })
  },

  async nested({ program, given }) {
    const sent = fieldsOf(program.createWithOrders({ name: 'nested', orders: [{ item: 'first' }, { item: 'second' }] }))
    const ids = new Set(expectGiven(given, 3))
    for (const { _id } of [sent, ...sent.orders])
      expectSame(ids.delete(_id), true, `${_id}n one of the IDs that were made`)
  },

  async update({ program, rows }) {
    for (const { id } of rows) expectId(fieldsOf(program.update(id, { name: 'updated' }))._id, id)
  },

  async upsert({ program, rows }) {
    for (const { id } of rows) expectId(fieldsOf(program.upsert({ id, name: 'upserted' }))._id, id)
  },

  async bulk({ program, given }) {
    const sent = program.insertMany(Array.from({ length: BULK }, (_, i) => ({ name: `bulk ${i}` })))
    for (const [i, id] of expectGiven(given, BULK).entries()) expectId(fieldsOf(sent[i])._id, id)
  },
}

/** Every operation at every size, as check() in check.js has them. */
export async function checkBson({ open, isSigned }) {
  let ids
  let given = []
  const newId = () => {
    const id = ids.next()
    given.push(id)
    return id
  }
  const program = open({ newId })
  const results = {}
  for (const name of Object.keys(OPERATIONS)) results[name] = {}
  for (const size of Object.keys(SIZES)) {
    ids = new Ids(size, isSigned)
    const rows = ids.edge(1).map((id, i) => ({ id, name: `customer ${i}` }))
    for (const name of Object.keys(OPERATIONS)) {
      given = []
      results[name][size] =
        name in CHECKS ? await outcomeOf(CHECKS[name], { program, ids, given, rows }) : { outcome: 'not offered' }
    }
  }
  await program.close()
  return results
}
