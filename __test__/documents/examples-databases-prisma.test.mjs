// The Prisma extension of the databases' examples: which rows of a write get an ID. The matrix runs it in a real
// Prisma, by create and createMany; this file covers all places with nested rows in Prisma's reference.

import { inspect } from 'node:util'
import test from 'ava'
import { withIds } from '../../lab/databases/libraries/prisma/ids.js'

/** What Prisma gets instead of `args`: the IDs are 1, 2, 3… */
function passed(operation, args) {
  let last = 0n
  const { $allModels } = withIds(() => ++last).query
  return $allModels[operation]({ args, query: (changed) => changed })
}

const where = { id: 99n }

test('a row gets an ID, and keeps an ID that it has', (t) => {
  t.deepEqual(passed('create', { data: { name: 'a' } }), { data: { id: 1n, name: 'a' } })
  t.deepEqual(passed('create', { data: { id: 7n, name: 'a' } }), { data: { id: 7n, name: 'a' } })
  for (const operation of ['createMany', 'createManyAndReturn']) {
    t.deepEqual(passed(operation, { data: [{}, { id: 7n }, {}] }), { data: [{ id: 1n }, { id: 7n }, { id: 2n }] })
    t.deepEqual(passed(operation, { data: {}, skipDuplicates: true }), { data: { id: 1n }, skipDuplicates: true })
  }
  t.deepEqual(passed('update', { where, data: { name: 'b' } }), { where, data: { name: 'b' } })
  t.deepEqual(passed('upsert', { where, create: {}, update: { name: 'b' } }), {
    where,
    create: { id: 1n },
    update: { name: 'b' },
  })
})

/** Each nested write, and its result when one row above it has ID 1. */
const NESTED = [
  [{ create: { a: 1 } }, { create: { a: 1, id: 2n } }],
  [
    { create: [{ a: 1 }, { a: 2 }] },
    {
      create: [
        { a: 1, id: 2n },
        { a: 2, id: 3n },
      ],
    },
  ],
  [{ createMany: { data: [{ a: 1 }] } }, { createMany: { data: [{ a: 1, id: 2n }] } }],
  [{ connectOrCreate: { where, create: {} } }, { connectOrCreate: { where, create: { id: 2n } } }],
  [{ connectOrCreate: [{ where, create: {} }] }, { connectOrCreate: [{ where, create: { id: 2n } }] }],
  [{ upsert: [{ where, create: {}, update: {} }] }, { upsert: [{ where, create: { id: 2n }, update: {} }] }],
  [
    { upsert: { create: {}, update: { b: { create: {} } } } },
    { upsert: { create: { id: 2n }, update: { b: { create: { id: 3n } } } } },
  ],
  [{ update: { b: { create: {} } } }, { update: { b: { create: { id: 2n } } } }],
  [{ update: [{ where, data: { b: { create: {} } } }] }, { update: [{ where, data: { b: { create: { id: 2n } } } }] }],
  [
    { create: { b: { create: { c: { create: {} } } } } },
    { create: { id: 2n, b: { create: { id: 3n, c: { create: { id: 4n } } } } } },
  ],
  [
    { create: undefined, connect: where },
    { create: undefined, connect: where },
  ],
  [{ connect: where }, { connect: where }],
  [
    { set: [where], disconnect: where, deleteMany: {} },
    { set: [where], disconnect: where, deleteMany: {} },
  ],
]

for (const [writes, wanted] of NESTED) {
  const name = inspect(writes, { depth: null, breakLength: Number.POSITIVE_INFINITY })
  test(`below a row: ${name}`, (t) => {
    t.deepEqual(passed('create', { data: { name: 'a', rows: writes } }), { data: { id: 1n, name: 'a', rows: wanted } })
  })
}

test('values that are not relations stay unchanged', (t) => {
  const data = {
    at: new Date(0),
    raw: new Uint8Array(2),
    count: { increment: 1 },
    json: { any: [1] },
    none: null,
    unset: undefined,
  }
  t.deepEqual(passed('update', { where, data }), { where, data })
})
