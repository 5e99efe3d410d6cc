// Several members at once on a real PostgreSQL: races.mjs has the tests. Specific to PostgreSQL: the isolation levels,
// and PgBouncer.

import anyTest from 'ava'
import pg from 'pg'
import { CLIENTS, startPgbouncer, wantPgbouncer } from '../servers/postgres.mjs'
import { stopAfter } from '../servers/server.mjs'
import { DATABASES, DatabaseStore } from './databases.mjs'
import { serve } from './members.mjs'
import { crowd, endAgainAndAgain, testRaces } from './races.mjs'

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

const bouncerTest = wantPgbouncer() === undefined ? anyTest.skip : test.serial

bouncerTest('behind PgBouncer, which uses another connection for each statement', async (t) => {
  const bouncer = stopAfter(t, await startPgbouncer(served.server()))
  const members = Array.from({ length: MEMBERS }, (_, i) => {
    const { client, end } = Object.values(CLIENTS)[i % 2](bouncer.url)
    t.teardown(end)
    return memberOn(client)
  })
  await crowd(t, members)
})
