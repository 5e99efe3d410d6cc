// Several members at once on a real PostgreSQL: races.mjs has the tests. What is PostgreSQL's own: the isolation
// levels, PgBouncer, and members that make the tables together.

import pg from 'pg'
import { CLIENTS, startPgbouncer, wantPgbouncer } from '../../servers/postgres.mjs'
import { DATABASES, DatabaseStore } from './databases.mjs'
import { crowd, endAgainAndAgain, testRaces } from './races.mjs'
import { callsOn, serve } from './rules.mjs'

const { postgres } = DATABASES
const served = serve(postgres)
const { test } = served

testRaces(postgres, served)

const MEMBERS = 8

const memberOn = (client) => {
  const records = postgres.recordsOf(client)
  return { kind: postgres, server: served.server(), records, store: new DatabaseStore(records) }
}

for (const level of ['repeatable read', 'serializable']) {
  test.serial(`${level}: members at once never share a slot`, async (t) => {
    const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`
    const pools = Array.from({ length: MEMBERS }, () => {
      const pool = new pg.Pool({ connectionString: served.server().url, max: 1, options })
      t.teardown(() => pool.end())
      return pool
    })
    await crowd(t, pools.map(memberOn), endAgainAndAgain)
  })
}

const bouncerTest = wantPgbouncer() === undefined ? test.skip : test.serial

bouncerTest('behind PgBouncer, which gives each statement another connection', async (t) => {
  const bouncer = await startPgbouncer(served.server())
  t.teardown(() => bouncer.stop())
  const members = Array.from({ length: MEMBERS }, (_, i) => {
    const { client, end } = Object.values(CLIENTS)[i % 2](bouncer.url)
    t.teardown(end)
    return memberOn(client)
  })
  await crowd(t, members)
})

for (const [name, connect] of Object.entries(CLIENTS)) {
  test.serial(`${name}: members that come first at the same time make the tables together`, async (t) => {
    const database = `fresh_${name.replace('.', '')}`
    await served.server().query(`CREATE DATABASE ${database}`)
    const members = Array.from({ length: 5 }, () => {
      const { client, end } = connect(served.server().url.replace(/postgres$/, database))
      t.teardown(end)
      return memberOn(client)
    })
    const options = { slots: 5, durable: true }
    const grants = await Promise.all(members.map((one) => callsOn(one, 'g', options).acquire({ joins: true })))
    t.deepEqual(
      grants.map(({ slot }) => slot).sort((a, b) => a - b),
      [0, 1, 2, 3, 4],
    )
  })
}
