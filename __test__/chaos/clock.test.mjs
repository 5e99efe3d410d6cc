// The clocks that chaos sets: a server sees the time that it is given, even if it changes while the server runs,
// whatever its language and however it reads the time. Setting back Node's own clock is tested in
// __test__/server/clock.test.mjs.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { startEtcd, wantEtcd } from '../servers/etcd.mjs'
import { serverNow as mysqlNow, startMysql, wantMysql } from '../servers/mysql.mjs'
import { serverNow as postgresNow, startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { serverNow as redisNow, startRedisOn, wantRedis } from '../servers/redis.mjs'
import { freePort, HERE } from '../servers/server.mjs'

const require = createRequire(import.meta.url)
const { Clock, NEEDS, canSetClocks } = require('../../lab/chaos/faults/clock.js')

if (!canSetClocks && process.env.FLAKEFORGE_REQUIRE_SERVERS === '1') throw new Error(`clocks need ${NEEDS}`)
if (!canSetClocks) console.warn(`\n!!! SKIPPED: no clock is set: that needs ${NEEDS} !!!\n`)

const HOUR_MS = 3_600_000

const SERVERS = {
  Redis: {
    isHere: wantRedis(),
    start: async (machine) => startRedisOn(machine, await freePort(), []),
    now: redisNow,
  },
  PostgreSQL: { isHere: wantPostgres(), start: (machine) => startPostgres({}, machine), now: postgresNow },
  MariaDB: { isHere: wantMysql(), start: (machine) => startMysql({}, {}, machine), now: mysqlNow },
  etcd: {
    isHere: wantEtcd(),
    start: (machine) => startEtcd({ machine }),
    now: async ({ url }) => Date.parse((await fetch(`${url}/version`)).headers.get('date')),
    stepMs: 1000, // it reports whole seconds
  },
}

/** A running server and its clock. */
async function startWithClock(t, { start }, offsetMs) {
  const clock = new Clock(offsetMs)
  const server = await start({ ...HERE, environment: clock.environment })
  t.teardown(() => server.stop())
  return { server, clock }
}

for (const [name, kind] of Object.entries(SERVERS)) {
  const test = canSetClocks && kind.isHere ? anyTest.serial : anyTest.skip
  test(`${name} sees the time that it is given, and its steps`, async (t) => {
    const { stepMs = 1 } = kind
    const { server, clock } = await startWithClock(t, kind, -HOUR_MS)
    for (const offsetMs of [-HOUR_MS, 2.5 * HOUR_MS, -1500, 0]) {
      clock.set(offsetMs)
      const before = Date.now()
      const now = (await kind.now(server)) - offsetMs
      t.true(before - stepMs <= now && now <= Date.now() + 1, `${offsetMs}: off by ${now - before} ms`)
    }
  })
}

const mysqlTest = canSetClocks && SERVERS.MariaDB.isHere ? anyTest.serial : anyTest.skip
mysqlTest('waiting until a time of the wrong clock takes as long as usual', async (t) => {
  const { server, clock } = await startWithClock(t, SERVERS.MariaDB, -HOUR_MS)
  for (const offsetMs of [-HOUR_MS, HOUR_MS]) {
    clock.set(offsetMs)
    const begun = performance.now()
    await server.query('SELECT SLEEP(0.5)')
    t.true(performance.now() - begun >= 499)
  }
})
