// Databases with tables: who makes them, and that nothing else does.

import { DatabaseStore } from '../databases.mjs'
import { isDirect, siteNameOf } from './suite.mjs'

/** A session that only this promise uses need not have a place of its own. */
const isPooled = (row) => !row.isOneConnection

export function tablePromises(suite) {
  const { kind } = suite
  if (kind.freshPlace === undefined) return

  suite.promise(
    'the first readers of a database make its tables together',
    isPooled,
    async (t, { site, connect, group }) => {
      const place = await suite.freshPlace(site)
      const all = await Promise.all(Array.from({ length: 8 }, () => connect(place)))
      const answers = await Promise.all(all.map(({ records }) => records.read(group, ['group'])))
      for (const { values, identity } of answers) t.deepEqual([values, identity], [[null], answers[0].identity])
      t.is((await kind.tablesIn(place)).length, 1)
    },
  )

  const looks = (row) => isDirect(row) || siteNameOf(row).startsWith('bouncer')
  suite.promise('nothing is made by a look, or by a swap', looks, async (t, { site, connect, group }) => {
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
}
