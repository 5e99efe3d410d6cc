// Groups on a real etcd: the clock of its answers, which has whole seconds, and the names of their keys.

import { clockedFetch } from '../servers/etcd.mjs'
import { DATABASES, DatabaseStore } from './databases.mjs'
import { callsOn, freshName, serve } from './members.mjs'

const { etcd } = DATABASES
const served = serve(etcd)

/** A member for which etcd's clock is `offsetMs` ahead of this machine's. */
function memberAt(offsetMs) {
  const clock = {
    get now() {
      return Date.now() + offsetMs
    },
  }
  const server = served.server()
  const records = etcd.recordsOf({ endpoints: server.url, fetch: clockedFetch(clock) })
  return { kind: etcd, server, records, store: new DatabaseStore(records) }
}

served.test('a clock of whole seconds may seem to be one second behind', async (t) => {
  const skewed = { code: 'ERR_FLAKE_CLOCK_SKEW', message: /5000 ms|5 s/ }
  for (const [offsetMs, isNear] of [
    [0, true],
    [-5000, true],
    [-5900, true],
    [-7500, false],
    [4500, true],
    [6500, false],
  ]) {
    const { acquire, list } = callsOn(memberAt(offsetMs), freshName(), { durable: true })
    if (isNear) await t.notThrowsAsync(acquire({ joins: true }), String(offsetMs))
    else await t.throwsAsync(acquire({ joins: true }), skewed, String(offsetMs))
    t.is((await list()).length, isNear ? 1 : 0)
  }
})

served.test("a group's keys are separate from all others", async (t) => {
  const own = await served.member('fetch')
  const names = ['a', 'a/b', 'a/', 'a/slots', 'A', 'ä', 'a%2Fb', ' a', 'a\ud800', 'a\udfff', 'a\\ud800']
  const all = [...names, 'x'.repeat(128)].map((name) => callsOn(own, name, { durable: true, slots: 1 }))
  for (const { acquire } of all) await acquire({ joins: true })
  await all[0].destroy()
  for (const { group, list } of all.slice(1)) t.is((await list()).length, 1, group)
})
