// Records of an earlier release in each database are opened by this one and continue. They are never silently
// restarted: all of them are from 2037 (vectors/upgrade/make.mjs). And records of a later release stop this one.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { FlakeId, lease } from '../support/index.mjs'
import { closeAfter, happens, tryJoin } from '../support/lease.mjs'
import { edited, fieldsOf, newOwner, slotName } from '../support/records.mjs'
import { DATABASES } from './databases.mjs'

const { layouts } = FlakeId
const { SegmentId, openStore } = lease
const require = createRequire(import.meta.url)

const timeOf = (id) => layouts.flake.decode(id).timestamp

/** Puts the records of an earlier release into a server, each text as `adapt` returns it. */
const FILL = {
  async redis({ cli }, { keys }, adapt) {
    for (const [key, texts] of Object.entries(keys)) {
      await cli('HSET', key, ...Object.entries(texts).flatMap(([field, text]) => [field, adapt(text)]))
    }
  },
  async postgres(server, { schema, rows }, adapt) {
    await server.query(schema)
    for (const { group_name: group, name, value } of rows) {
      await DATABASES.postgres.put(server, group, name, adapt(value))
    }
  },
  async mysql(server, { schema, rows }, adapt) {
    await server.query(`USE ${server.database}; ${schema}`)
    for (const row of rows) {
      const columns = [row.group_name, row.name, adapt(row.value), row.undumped]
      await server.query(`REPLACE INTO ${server.database}.flakeforge_record VALUES (?, ?, ?, ?)`, columns)
    }
  },
  async etcd(server, { keys }, adapt) {
    for (const [key, text] of Object.entries(keys)) await server.ctl('put', key, adapt(text))
  },
}

const opened = [] // stores, each before its server

anyTest.after.always(async () => {
  for (const each of opened) await each.close()
})

for (const [name, kind] of Object.entries(DATABASES)) {
  const test = kind.isInstalled() ? anyTest : anyTest.skip
  const written = require(`../vectors/upgrade/${name}.json`)
  const { options, counter, slot: held } = written
  const { group } = options
  /** The counter's position: it had given one block. */
  const taken = BigInt(written.lastOfCounter) + BigInt(counter.block)

  /** A filled server, its store, and the fields of a record. */
  async function startFilled() {
    const server = await kind.start()
    const url = kind.urlOf(server)
    const store = openStore(url)
    opened.push(store, { close: () => server.stop() })
    await FILL[name](server, written, (text) => text)
    const fields = async (...record) => fieldsOf(await kind.get(server, ...record))
    return { server, url, store, fields }
  }

  /** The same, as if this were still the server that the earlier release wrote to. */
  async function startUpgraded() {
    const filled = await startFilled()
    await filled.store.advance('any', 1n, 0n, true)
    const { history, process } = await filled.fields('any', 'counter')
    const isRecord = (text) => text.includes(' history=')
    await FILL[name](filled.server, written, (text) => (isRecord(text) ? edited(text, { history, process }) : text))
    return filled
  }

  /** For all tests of this database: each has its own records. */
  let started
  const upgraded = () => (started ??= startUpgraded())

  test(`a group on ${name}: its member renews, others get free slots, and the list shows them all`, async (t) => {
    const { url, store, fields } = await upgraded()
    const { lineage, fingerprint } = await fields(group, 'group')
    const record = await fields(group, slotName(held))
    const [lo, hi] = [Number(record.lo), Number(record.hi)]
    const rows = await store.list(group)
    t.like(
      rows.find(({ slot }) => slot === held),
      { owner: record.owner, host: options.host, lo, hi },
    )
    t.is(rows.length, 2)

    const { slots, ttlMs, skewMs, durable } = options
    const config = { fingerprint: decodeURIComponent(fingerprint), slots, ttlMs, skewMs, durable }
    const renewed = await store.renew(group, { config, slot: held, owner: record.owner, hi })
    t.like(renewed, { slot: held, lo, hi, lineage }, 'its window was longer already')

    const flake = await FlakeId.join(url, options)
    closeAfter(t, flake)
    t.false(rows.some(({ slot }) => slot === flake.slot))
    t.is(flake.lineage, lineage)
    const another = { config, owner: newOwner(), host: options.host, joins: true }
    await t.throwsAsync(store.acquire(group, another), { code: 'ERR_FLAKE_EXHAUSTED' })
    t.is((await fields(group, slotName(held))).hi, record.hi)
  })

  test(`a counter on ${name} continues from its position`, async (t) => {
    const { url, fields } = await upgraded()
    const { lineage } = await fields(counter.name, 'counter')
    const segments = [await SegmentId.open(url, counter), await SegmentId.open(url, counter)]
    for (const segment of segments) closeAfter(t, segment)
    const numbers = segments.map((segment) => segment.nextBigInt())
    t.deepEqual(numbers, [taken, taken + BigInt(counter.block)])
    t.is(segments[0].lineage, lineage)
  })

  test(`a group on ${name} that has ended stays quiet until its last window has ended`, async (t) => {
    const { url, fields } = await upgraded()
    const { quiet } = await fields(written.ended, 'group')
    const ended = { ...options, group: written.ended, waitMs: 30_000 }
    const { retryAt } = await t.throwsAsync(tryJoin(url, ended), { code: 'ERR_FLAKE_QUIET' })
    t.is(retryAt.getTime(), Number(quiet))
    t.is((await fields(written.ended, 'group')).life, '2')
  })

  if (kind.identity.includes('history')) {
    test(`records that were moved into another ${name} count as lost`, async (t) => {
      const { url } = await startFilled()
      await t.throwsAsync(tryJoin(url, { ...options, waitMs: 30_000 }), { code: 'ERR_FLAKE_QUIET' })
      const segment = await SegmentId.open(url, counter)
      closeAfter(t, segment)
      t.throws(() => segment.nextBigInt(), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
    })
  }

  test(`a later release on ${name}: the holder of a slot stops at its window's end, and says why`, async (t) => {
    const { server, url, store } = await upgraded()
    // A third of ttlMs is enough for a renewal on a busy machine: otherwise it fails for another reason first.
    const [group, own] = ['later', { ...options, group: 'later', ttlMs: 9000 }]
    await FlakeId.createGroup(url, own)
    const flake = await FlakeId.join(url, own)
    closeAfter(t, flake)
    const records = ['group', slotName(flake.slot)]
    const texts = () => Promise.all(records.map((record) => kind.get(server, group, record)))
    const before = await kind.get(server, group, 'group')
    const [{ cause, expires }] = await Promise.all([
      happens(flake, 'renewal-failed'), // reported once, perhaps before the record is known to exist
      kind.put(server, group, 'group', 'flakeforge2 needs=9.9 group state=live of=later'),
    ])
    const needs = {
      code: 'ERR_FLAKE_RECORD',
      message: /^Record 'group' of 'later' .*\(format 2, which needs flakeforge 9\.9\)/,
    }

    const after = await texts()
    await t.throwsAsync(Promise.reject(cause), needs)
    const calls = [() => tryJoin(url, own), () => FlakeId.createGroup(url, own), () => store.destroy(group)]
    for (const call of [...calls, () => store.list(group)]) await t.throwsAsync(call, needs)
    const error = await windowEnd(flake, (id) => t.true(timeOf(id) <= expires.getTime()))
    t.is(error.code, 'ERR_FLAKE_LEASE_EXPIRED')
    t.true(error.message.includes('needs flakeforge 9.9'))
    await t.throwsAsync(Promise.reject(error.cause), needs)
    t.deepEqual(await texts(), after, 'nothing was written')

    await Promise.all([happens(flake, 'renewed'), kind.put(server, group, 'group', before)])
    t.notThrows(() => flake.nextBigInt(), 'the earlier release is back')
  })
}

/** The error at the end of a window, of which each ID is shown. A used-up ms is not its end. */
async function windowEnd(flake, show) {
  for (;;) {
    try {
      show(flake.nextBigInt())
    } catch (error) {
      if (error.code !== 'ERR_FLAKE_OVERFLOW') return error
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
