// How a store handles replicas: they are rejected, and have another history once they lead. Where writes wait for a
// replica, a swap is answered true only when the replica has it.

import { put, textOf } from '../../support/records.mjs'
import { stepsOf } from '../../support/steps.mjs'
import { isDirect, reached, siteNameOf } from './suite.mjs'

const STORE = { code: 'ERR_FLAKE_STORE' }

/** Writes a text, once that is possible: on a busy machine a replica may be late. */
const written = (records, group, text) =>
  reached(() => put(records, group, 'group', text).then((isDone) => isDone || undefined))

export function replicaPromises(suite) {
  const { kind } = suite
  if (kind.sites.replicated === undefined) return

  suite.test(
    'a replica is rejected at each step, with the way out; once it leads it has another history',
    async (t) => {
      const site = await suite.startSite(t, 'replicated')
      const { replica } = site
      const rows = suite.rowsThat(isDirect)
      const { records } = await suite.connect(t, rows[0], site)
      for (const { name } of rows) t.true(await written(records, name, 'text'))
      const { identity } = await records.read(rows[0].name, ['group'])
      const there = { ...site, server: replica, url: kind.urlOf({ ...replica, urlOf: (name) => replica.urlOf(name) }) }
      const refused = { ...STORE, message: kind.replicaRefuses }
      for (const row of rows) {
        const { store, records: onReplica } = await suite.connect(t, row, there)
        await t.throwsAsync(onReplica.read(row.name, ['group']), refused, row.name)
        await t.throwsAsync(onReplica.swap(row.name, 'group', 'text', 'wrong', identity), refused, row.name)
        await t.throwsAsync(stepsOf(store, `${row.name}, created there`).create(), refused, row.name)
      }

      await kind.promote(site)
      for (const row of rows) {
        const { records: promoted } = await suite.connect(t, row, there)
        const after = await promoted.read(row.name, ['group'])
        t.deepEqual(after.values, ['text'], row.name)
        t.not(after.identity.history, identity.history)
        t.not(after.identity.process, identity.process)
        for (const stale of [identity, { ...after.identity, history: identity.history }]) {
          t.false(await promoted.swap(row.name, 'group', 'text', 'wrong', stale), row.name)
        }
        t.true(await promoted.swap(row.name, 'group', 'text', 'after', after.identity), row.name)
      }
    },
  )

  /** Where a row meets replicas: rows of a single server connect to one with replicas. */
  const siteOf = (row) => (isDirect(row) ? 'replicated' : siteNameOf(row))
  const { acknowledgement } = kind
  suite.whileBroken(
    'a swap is true once a replica has it, unknown while none does, and true again',
    {
      siteOf,
      needs: (row) => !row.tellsNoWarnings && acknowledgement.sites.includes(siteOf(row)),
      damages: [acknowledgement],
    },
    {
      async before(t, { connect, row, site }) {
        const { records } = await connect()
        const groups = (await acknowledgement.groupsOn?.(site, row.name)) ?? [row.name]
        for (const group of groups) t.true(await written(records, group, 'a'))
        return { records, groups }
      },
      async during(t, { records, groups }) {
        for (const group of groups) {
          const { identity } = await reached(() => records.read(group, ['group']))
          const swap = records.swap(group, 'group', 'a', 'b', identity)
          await t.throwsAsync(swap, { ...STORE, message: acknowledgement.message })
        }
      },
      async after(t, { records, groups }) {
        for (const group of groups) {
          t.true(await written(records, group, 'c'))
          t.is(await textOf(records, group), 'c')
        }
      },
    },
  )
}
