// Databases with tables: what creates them and what does not, and reads that wait for a lock.

import { until } from '../../servers/server.mjs'
import { put } from '../../support/records.mjs'
import { DatabaseStore } from '../databases.mjs'
import { isDirect, reached } from './suite.mjs'

export function tablePromises(suite) {
  const { kind } = suite
  if (kind.freshPlace === undefined) return

  suite.promise(
    'the first readers of a database create its tables together',
    undefined,
    async (t, { site, connect, group }) => {
      const place = await suite.freshPlace(site)
      const all = await Promise.all(Array.from({ length: 8 }, () => connect(place)))
      const answers = await Promise.all(all.map(({ records }) => reached(() => records.read(group, ['group']))))
      for (const { values, identity } of answers) t.deepEqual([values, identity], [[null], answers[0].identity])
      t.is((await kind.tablesIn(place)).length, 1)
    },
  )

  suite.promise('nothing is created by a look, or by a swap', undefined, async (t, { site, connect, group }) => {
    const place = await suite.freshPlace(site)
    const { records } = await connect(place)
    const store = new DatabaseStore(records)
    t.deepEqual((await records.look(group, ['group', 'counter'])).values, [null, null])
    t.deepEqual(await records.names(group), [])
    t.deepEqual(await records.groups(), [])
    t.deepEqual(await store.list(group), [])
    t.false(await store.has(group))
    await records.checkDurable().catch(() => {})
    t.false(await records.swap(group, 'group', null, 'x', { history: '', process: '' }))
    t.deepEqual(await kind.tablesIn(place), [])
    await records.read(group, ['group'])
    t.is((await kind.tablesIn(place)).length, 1)
  })

  suite.promise(
    'the clock is read after the records, also where a read had to wait for a lock',
    isDirect,
    async (t, { site, connect, group }) => {
      const place = await suite.freshPlace(site)
      const { records } = await connect(place)
      await put(records, group, 'group', 'before')
      const { lock, change, unlock, isWaiting, now, end } = await kind.lockerOf(place)
      t.teardown(end)
      await lock()
      const reading = records.read(group, ['group'])
      await until(isWaiting)
      await change(`UPDATE flakeforge_record SET value = 'after'`)
      const written = await now()
      await unlock()
      const answer = await reading
      t.deepEqual(answer.values, ['after'])
      t.true(answer.now >= written, `${written - answer.now} ms older than the record`)
    },
  )
}
