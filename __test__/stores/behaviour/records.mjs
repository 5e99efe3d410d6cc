// What read and swap guarantee, by each client. flakeforge-check-store has these promises, for users' own stores too. Rows that
// are `isFull` pass all of its checks, in several processes, as a user's module does; the others those of one client, here.

import { createRequire } from 'node:module'
import { allAreOk, CHECKS, moduleOf, resultsOf } from '../../check-store/suite.mjs'
import { put, textOf } from '../../support/records.mjs'
import { openGroup, works } from '../../support/steps.mjs'
import { isDirect } from './suite.mjs'

const require = createRequire(import.meta.url)
const { recordStore } = require('../../../target/rooms/lib/stores/record-store.js')
const { Client } = require('../../../target/rooms/packages/check-store/lib/process.js')
const { FULL } = require('../../../target/rooms/packages/check-store/lib/size.js')
const { Trial } = require('../../../target/rooms/packages/check-store/lib/trial.js')

const DATABASE = JSON.stringify(new URL('../../check-store/database.mjs', import.meta.url))
const CHECKS_OF_ONE = CHECKS.filter(({ isOfOneClient }) => isOfOneClient)

/** A trial of a client in this process. */
function trialOf(given, { cannotListGroups = false }) {
  const trial = new Trial('no module', { ...FULL, many: 60 })
  const { records } = recordStore(given)
  const ask = async (_, [, name, args]) => records[name](...args)
  const opened = { handle: 0, groups: !cannotListGroups, close: false }
  trial.clients = [new Client({ ask, identities: new Map() }, opened)]
  return trial
}

/** Texts that a database may refuse, so that the checks of stores do not have them; those have all others. */
const TEXTS = ['', '\n', '\0', '\\\\']

export function recordPromises(suite) {
  const { kind } = suite

  const full = suite.rowsThat((row) => row.isFull).map(({ name }) => name)
  const all = full.length === 0 ? () => {} : suite.alone.bind(suite) // some databases have a test of their own
  all(`${full.join(', ')}: all checks of flakeforge-check-store`, async (t) => {
    t.timeout(300_000)
    const { url } = await suite.sharedSite()
    // At once: each waits most of its time.
    const results = full.map(async (name) => {
      const args = [kind.program.file, name, url].map((text) => JSON.stringify(text)).join(', ')
      return resultsOf(moduleOf(`import { openDatabase } from ${DATABASE}\nexport default await openDatabase(${args})`))
    })
    for (const [i, name] of full.entries()) allAreOk(t, await results[i], name)
  })

  const isUnchecked = (row) => !row.isFull
  suite.promise('the checks that flakeforge-check-store makes of one client', isUnchecked, async (t, { connect }) => {
    const { records } = await connect()
    const trial = trialOf(records, kind)
    t.true(CHECKS_OF_ONE.length > 8)
    for (const { name, run } of CHECKS_OF_ONE) await t.notThrowsAsync(run(trial), name)
  })

  suite.promise('every step, also several at once', undefined, async (t, { connect, group }) => {
    const { store } = await connect()
    await works(t, store)
    t.is(store.groups === undefined, kind.cannotListGroups === true)
    const { acquire, list } = await openGroup(store, group, { slots: 6 })
    const grants = await Promise.all(Array.from({ length: 6 }, () => acquire()))
    t.deepEqual(grants.map(({ slot }) => slot).sort(), [0, 1, 2, 3, 4, 5])
    t.is((await list()).length, 6)
  })

  suite.promise('a text comes back unchanged, or is rejected', undefined, async (t, { connect, group }) => {
    const { records } = await connect()
    for (const [i, text] of TEXTS.entries()) {
      const name = `slot${i}`
      if (!kind.refusedTexts?.includes(text)) {
        t.true(await put(records, group, name, text), JSON.stringify(text))
        t.is(await textOf(records, group, name), text)
        continue
      }
      await t.throwsAsync(put(records, group, name, text), { code: 'ERR_FLAKE_STORE' })
      t.is(await textOf(records, group, name), null)
    }
  })

  suite.promise('the identity has the parts that this database knows', isDirect, async (t, { connect, group }) => {
    const { identity } = await (await connect()).records.read(group, ['group'])
    const known = Object.keys(identity).filter((part) => identity[part] !== '')
    t.deepEqual(known.sort(), [...kind.identity].sort())
  })
}
