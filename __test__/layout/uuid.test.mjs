// toUuid() and fromUuid(): against the bits as the types describe them, implemented again here with BigInt; against the
// package uuid; and in the columns of real servers.

import test from 'ava'
import fc from 'fast-check'
import { validate, version } from 'uuid'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { stopAfter } from '../servers/server.mjs'
import { bufferOf, FlakeId, hexOf, holds, ids, MAX, throwsCode } from '../support/index.mjs'

const { Layout, layouts, toBigInt } = FlakeId
const { flake, twitter } = layouts
const bytesOf = (uuid) => Buffer.from(uuid.replaceAll('-', ''), 'hex')

// --- the format, implemented again ---

/** How to read times, as text, for layouts with figures that are known here. */
const READINGS = {
  flake: 'flakeforge: epoch 0 ms, tick 1000000 ns, timestamp 42 bits at 22, idOffset 0',
  hazelcast: 'flakeforge: epoch 1514764800000 ms, tick 1000000 ns, timestamp 41 bits at 22, idOffset 0',
  sonyflake: 'flakeforge: epoch 1409529600000 ms, tick 10000000 ns, timestamp 39 bits at 24, idOffset 0',
  chronicle: 'flakeforge: epoch 0 ms, tick 100 ns, decimal, idOffset 0',
}

function fnv1a(text) {
  let hash = 0xcbf29ce484222325n
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) % 2n ** 64n
  return hash
}

/** The parts, joined as 128 binary digits. */
function uuidOf(id, reading) {
  const bits = id.toString(2).padStart(64, '0')
  const hash = fnv1a(reading).toString(2).padStart(64, '0').slice(8)
  const all = [bits.slice(0, 48), '1000', bits.slice(48, 60), '10', bits.slice(60), '01', hash].join('')
  const digits = BigInt(`0b${all}`).toString(16).padStart(32, '0')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** IDs of a layout, as bigints. */
const idsOf = (layout) => ids.map((id) => (layout.name === 'flake' ? id : id & (MAX >> 1n)))

for (const [name, reading] of Object.entries(READINGS)) {
  const layout = layouts[name]

  test(`the bits are as described: ${name}`, (t) => {
    holds(t, [idsOf(layout)], (id) => layout.toUuid(id) === uuidOf(id, reading), 1000)
  })

  test(`back again, in either case, and in the order of the IDs: ${name}`, (t) => {
    const pairs = fc.oneof(
      fc.tuple(idsOf(layout), idsOf(layout)),
      idsOf(layout).map((id) => [id, id > 0n ? id - 1n : 1n]),
    )
    const check = ([a, b]) => {
      const [first, second] = [a, b].map((id) => layout.toUuid(id))
      return (
        toBigInt(layout.fromUuid(first)) === a &&
        toBigInt(layout.fromUuid(first.toUpperCase())) === a &&
        first < second === a < b &&
        Buffer.compare(bytesOf(first), bytesOf(second)) === Buffer.compare(bufferOf(a), bufferOf(b))
      )
    }
    holds(t, [pairs], check, 1000)
  })
}

test("the bits are as described: mode 'spread', which uniqueid's IDs say themselves", (t) => {
  const spread = new Layout('flake', { mode: 'spread' })
  const reading = READINGS.flake.replace('timestamp', 'timestamp reversed')
  holds(t, [ids], (id) => spread.toUuid(id) === uuidOf(id, reading), 1000)
  const [one, other] = ['spread', 'sequential'].map((mode) => new Layout('uniqueid', { mode }))
  holds(t, [ids], (id) => one.toUuid(id) === other.toUuid(id), 1000)
})

test('the package uuid reads them as UUIDs of version 8', (t) => {
  holds(t, [ids], (id) => validate(flake.toUuid(id)) && version(flake.toUuid(id)) === 8, 1000)
})

test('every form of an ID has the same UUID', (t) => {
  const id = 0x687e488989127001n
  for (const form of [id, bufferOf(id), new Uint8Array(bufferOf(id)), String(id), `0x${id.toString(16)}`]) {
    t.is(flake.toUuid(form), '687e4889-8912-8700-858f-670cd8eec840')
  }
  const back = flake.fromUuid('687e4889-8912-8700-858f-670cd8eec840')
  t.is(hexOf(back), id.toString(16))
  t.is(back.buffer.byteLength, 8)
})

test('every layout has UUIDs for the bounds of its ranges', (t) => {
  for (const layout of Object.values(layouts).filter(({ name }) => name !== 'uniqueid')) {
    const { min, max } = layout.range(Date.UTC(2026, 0), Date.UTC(2027, 0))
    t.true(layout.fromUuid(layout.toUuid(min)).equals(min), layout.name)
    t.true(layout.fromUuid(layout.toUuid(max)).equals(max), layout.name)
  }
})

// --- rejected input ---

const GOOD = flake.toUuid(0x687e488989127001n)

for (const [what, text, message] of [
  ['no text', 5n, /form '687e4889-8912-8700-858f-670cd8eec840'/],
  ['absent', undefined, /form '/],
  ['bytes', bytesOf(GOOD), /form '/],
  ['empty text', '', /form '/],
  ['braces', `{${GOOD}}`, /without braces/],
  ['no dashes', GOOD.replaceAll('-', ''), /form '/],
  ['a URN', `urn:uuid:${GOOD}`, /form '/],
  ['half of a character in UTF-16', `\ud800${GOOD.slice(1)}`, /form '/],
  ['a space', ` ${GOOD}`, /form '/],
  ['version 4', GOOD.replace('-87', '-47'), /its version is 4, not 8/],
  ['version 7', '019a9d1c-3c5e-7a51-9d3f-0123456789ab', /its version is 7, not 8/],
  ['the variant of Microsoft', GOOD.replace('-85', '-c5'), /variant bits are 11, not 10/],
  ['the nil UUID', '00000000-0000-0000-0000-000000000000', /variant bits are 00/],
  ['the max UUID', 'ffffffff-ffff-ffff-ffff-ffffffffffff', /variant bits are 11/],
  ['version 8 of another program', '687e4889-8912-8700-8000-000000000000', /its last 58 bits are 0x0, and.*0x18f67/],
  ['another layout', layouts.discord.toUuid(0x687e488989127001n), /of layout 'flake'.*another epoch, tick/],
]) {
  test(`fromUuid rejects any other UUID and text: ${what}`, (t) => {
    const error = throwsCode(t, () => flake.fromUuid(text), 'ERR_FLAKE_ID', TypeError)
    t.is(error.value, text)
    t.regex(error.message, message)
  })
}

test('one changed bit outside the ID is rejected, one inside gives another ID', (t) => {
  const number = BigInt(`0x${GOOD.replaceAll('-', '')}`)
  const outside = []
  for (let bit = 0n; bit < 128n; bit++) {
    const digits = (number ^ (1n << bit)).toString(16).padStart(32, '0')
    const text = digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    try {
      t.is(flake.toUuid(flake.fromUuid(text)), text)
    } catch (error) {
      t.is(error.code, 'ERR_FLAKE_ID')
      outside.push(127 - Number(bit))
    }
  }
  t.is(outside.length, 64)
})

test('an ID that is not of the layout has no UUID, and a UUID with one is rejected', (t) => {
  const error = throwsCode(t, () => twitter.toUuid(MAX), 'ERR_FLAKE_ID', TypeError)
  t.is(error.value, MAX)
  t.regex(error.message, /an ID of layout 'twitter': a bit that must be 0/)
  const uuid = twitter.toUuid(1n).replace('0', 'f')
  t.regex(
    throwsCode(t, () => twitter.fromUuid(uuid), 'ERR_FLAKE_ID', TypeError).message,
    /'twitter': in 17293822569102704641, a bit/,
  )
  for (const noId of [-1n, 2n ** 64n, 'x', 1.5, null])
    throwsCode(t, () => flake.toUuid(noId), 'ERR_FLAKE_ID', TypeError)
})

test('a layout with a new name, new node fields or a new counter still reads its old UUIDs', (t) => {
  const before = new Layout({
    name: 'orders',
    epoch: 1e12,
    fields: Object.entries({ timestamp: 41, shard: 13, counter: 10 }),
  })
  const after = new Layout({
    name: 'sales',
    epoch: 1e12,
    fields: Object.entries({ timestamp: 41, node: 8, counter: 15 }),
  })
  const sequential = new Layout('uniqueid', { mode: 'sequential' })
  for (const [old, changed] of [
    [before, after],
    [layouts.uniqueid, sequential],
    [layouts.snowcast, new Layout('snowcast', { nodes: 512 })],
  ]) {
    t.is(changed.toUuid(12345n), old.toUuid(12345n))
  }
  for (const [old, changed] of [
    [before, new Layout(before, { epoch: 1e12 + 1 })],
    [before, new Layout(before, { idOffset: 1n })],
    [before, new Layout(before, { mode: 'spread' })],
    [before, new Layout({ epoch: 1e12, tickMs: 2, fields: before.fields })],
    [before, new Layout({ epoch: 1e12, fields: Object.entries({ zero: 1, timestamp: 41, shard: 12, counter: 10 }) })],
  ]) {
    throwsCode(t, () => changed.fromUuid(old.toUuid(12345n)), 'ERR_FLAKE_ID', TypeError)
  }
})

// --- in databases ---

const SORTED = [0n, 1n, 15n, 16n, 2n ** 22n - 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, MAX - 1n, MAX]
const MIXED = SORTED.map((_, i) => SORTED[(i * 7) % SORTED.length])
const rows = (literal) => MIXED.map((id) => `(${literal(flake.toUuid(id))}, '${id}')`).join(', ')

const [isPostgresHere, isMysqlHere] = [wantPostgres() !== undefined, wantMysql() !== undefined]

;(isPostgresHere ? test : test.skip)('PostgreSQL sorts a uuid column as IDs, and gives the same text', async (t) => {
  const server = stopAfter(t, await startPostgres())
  await server.query('CREATE TABLE t (id uuid PRIMARY KEY, dec text)')
  await server.query(`INSERT INTO t VALUES ${rows((uuid) => `'${uuid}'`)}`)
  const found = await server.query('SELECT * FROM t ORDER BY id')
  t.deepEqual(
    found.map(({ dec }) => BigInt(dec)),
    SORTED,
  )
  for (const { id, dec } of found) t.is(toBigInt(flake.fromUuid(id)), BigInt(dec))
})

;(isMysqlHere ? test : test.skip)('MariaDB sorts columns of UUID and BINARY(16) as IDs', async (t) => {
  const server = stopAfter(t, await startMysql())
  await server.query('CREATE DATABASE d')
  for (const [type, literal] of [
    ['UUID', (uuid) => `'${uuid}'`],
    ['BINARY(16)', (uuid) => `x'${hexOf(bytesOf(uuid))}'`],
    ['CHAR(36)', (uuid) => `'${uuid}'`],
  ]) {
    const statements = [
      `CREATE OR REPLACE TABLE d.t (id ${type} PRIMARY KEY, d VARCHAR(20))`,
      `INSERT INTO d.t VALUES ${rows(literal)}`,
      'SELECT * FROM d.t ORDER BY id',
    ]
    const found = (await server.query(statements.join('; '))).at(-1)
    t.deepEqual(
      found.map(({ d }) => BigInt(d)),
      SORTED,
      type,
    )
    if (type === 'UUID') for (const { id, d } of found) t.is(toBigInt(flake.fromUuid(id)), BigInt(d))
  }
})
