// The kinds of clients that users have, and what else they do with them: transactions, full pools, other databases,
// options that change the form of answers.

import { inspect } from 'node:util'
import { put, textOf } from '../../support/records.mjs'
import { isDirect, reached } from './suite.mjs'

const OPTION = { code: 'ERR_FLAKE_OPTION' }

export function clientPromises(suite) {
  const { kind } = suite

  suite.promise(
    'inside a transaction of the user every call is rejected, and accepted after it',
    (row) => row.transaction,
    async (t, { row, site, connect, group }) => {
      const { begin, end, refused, options } = row.transaction
      const { client, records } = await connect(site, options)
      await put(records, group, 'group', 'a')
      const { identity } = await records.read(group, ['group'])
      for (const [name, from] of [
        ['group', 'a'],
        ['counter', null],
      ]) {
        await begin(client)
        const calls = [
          () => records.read(group, ['group']),
          () => records.names(group),
          ...(records.groups ? [() => records.groups()] : []),
          () => records.swap(group, name, from, 'b', identity),
        ]
        for (const call of calls) await t.throwsAsync(call(), { ...OPTION, ...refused })
        await end(client)
        t.is(await textOf(records, group, name), from)
        t.true(await records.swap(group, name, from, 'b', identity))
      }
    },
  )

  suite.promise(
    'a swap that waited too long for a connection is not sent',
    (row) => row.pool,
    async (t, { row, site, connect, group }) => {
      const { client, records } = await connect(site, row.pool.options)
      const { identity } = await records.read(group, ['group'])
      await records.swap(group, 'other', null, 'in time', identity) // the server knows the statement
      const giveBack = await row.pool.take(client)
      const late = records.swap(group, 'group', null, 'late', identity, AbortSignal.timeout(50))
      await t.throwsAsync(late, { message: /given up|aborted/ })
      await giveBack() // waiting statements go over it, in order
      t.is(await textOf(records, group), null)
    },
  )

  suite.promise(
    'a session that its user moves elsewhere moves no record',
    (row) => row.move,
    async (t, { row, site, connect, group }) => {
      const { client, records } = await connect(site, row.moveOptions)
      const still = (await connect()).records
      t.true(await put(records, group, 'group', 'first'))
      const [before, place] = [await records.read(group, ['group']), await records.place()]
      await row.move(client)
      const after = await records.read(group, ['group'])
      t.deepEqual([after.values, after.identity], [before.values, before.identity])
      t.true(await records.swap(group, 'group', 'first', 'second', before.identity))
      t.true(await records.swap(group, 'counter', null, 'third', before.identity))
      t.deepEqual((await still.read(group, ['group', 'counter'])).values, ['second', 'third'])
      t.deepEqual((await records.names(group)).sort(), ['counter', 'group'])
      t.is(await records.place(), place)
    },
  )

  suite.promise(
    'no option of the client changes an answer',
    (row) => row.options,
    async (t, { row, site, connect, group }) => {
      const plain = (await connect()).records
      const durable = (records) => records.checkDurable().catch(({ message }) => message)
      for (const [i, options] of row.options.entries()) {
        const option = inspect(options)
        const { records } = await connect(site, options)
        const own = `${group} ${i}`
        const { now, identity } = await records.read(own, ['group'])
        t.true(Math.abs(now - Date.now()) < 5000, option)
        t.true(await records.swap(own, 'group', null, 'ä', identity), option)
        t.true(await records.swap(own, 'group', 'ä', '€', identity), option)
        t.false(await records.swap(own, 'group', 'ä', 'wrong', identity), option)
        t.false(await records.swap(own, 'group', null, 'wrong', identity), option)
        t.deepEqual((await records.read(own, ['counter', 'group'])).values, [null, '€'], option)
        t.deepEqual(await records.names(own), ['group'], option)
        if (records.groups) t.true((await records.groups()).includes(own), option)
        t.deepEqual(
          [await records.place(), await durable(records)],
          [await plain.place(), await durable(plain)],
          option,
        )
      }
    },
  )

  if (kind.strangers) {
    const { values, message } = kind.strangers
    suite.test('an object that is not a client of this database is rejected', (t) => {
      for (const value of [undefined, {}, new Map(), ...values]) {
        t.throws(() => kind.storeOf(value), { ...OPTION, instanceOf: TypeError, message })
      }
    })
  }

  if (kind.durableNeeds) durableNeeds(suite)
}

/** Needs of one server, in their order: a need for the server's start begins another one. */
function inServers(needs) {
  const servers = []
  for (const need of needs) {
    if (need.settings !== undefined || servers.length === 0) servers.push([])
    servers.at(-1).push(need)
  }
  return servers
}

function durableNeeds(suite) {
  const { kind } = suite
  for (const needs of inServers(kind.durableNeeds)) {
    suite.test(
      `durable is rejected where an answered write can be lost: ${needs.map(({ what }) => what).join(', ')}`,
      async (t) => {
        const isOfAny = needs.every((need) => need.break === undefined) // like any server started for tests
        const site = isOfAny
          ? await suite.sharedSite()
          : await suite.startSite(t, undefined, needs[0].settings ?? kind.keeps)
        const rows = suite.rowsThat(isDirect)
        const all = await Promise.all(rows.map((row) => suite.connect(t, row, site)))
        await reached(() => all[0].records.read('g', ['group'])) // where there are tables, they are created
        const each = (check) => Promise.all(all.map(({ records }, i) => check(records, rows[i].name)))
        for (const { message, ...damage } of needs) {
          await damage.break?.(site)
          await each(async (records, name) => {
            const error = await t.throwsAsync(records.checkDurable(), { ...OPTION, message }, name)
            t.like(error, { option: 'durable', value: true }, name)
          })
          if (damage.mend === undefined) continue
          await damage.mend(site)
          await each((records, name) => t.notThrowsAsync(records.checkDurable(), name))
        }
      },
    )
  }
}
