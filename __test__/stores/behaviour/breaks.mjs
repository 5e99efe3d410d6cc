// A store's errors for a server that is down, hangs, is cut off, takes no writes or refuses one; and steps continue
// when it is back, without a loss and without a new client.

import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, stopAfter } from '../../servers/server.mjs'
import { put, textOf } from '../../support/records.mjs'
import { LATE, stepsOf, works } from '../../support/steps.mjs'
import { once } from '../../support/waits.mjs'
import { freeze, isDirect, reached, siteNameOf, throughProxy } from './suite.mjs'

const require = createRequire(import.meta.url)
const { isRefusedWrite } = require('../../../target/rooms/lib/base/errors.js')

const STORE = { code: 'ERR_FLAKE_STORE' }
/** Messages, from packages and from us, for a connection that ended or cannot be opened. */
const GONE =
  /ECONNREFUSED|ECONNRESET|EPIPE|closed|socket|connection|terminat|shutting down|no answer within|timeout|timed out|login|fetch failed/i

/** Sites of one server, and with PgBouncer before it. Others continue without it. */
const hasOneServer = (row) => isDirect(row) || siteNameOf(row) === 'bouncers'
/** Whether a client reopens a connection that has ended. */
const reconnects = (row) => !row.isOneConnection
/** The same site at another port. `user`: the credentials in an address of ours. */
function movedTo(site, port, user = '') {
  const host = `127.0.0.1:${port}`
  const url = site.url?.replace(/\/\/(?:[^/@]*@)?[^/]*/, (old) =>
    user ? `//${user}${host}` : old.replace(/:\d+$/, `:${port}`),
  )
  return { ...site, url, user, endpoints: undefined, sentinels: [{ host: '127.0.0.1', port }], nodes: [{ port }] }
}

/** Whether a store ends a silent connection of this client, so that it gets another one. */
const drops = (row) => row.isOurs || row.drops
/** Whether it ends one to a server that takes no writes. */
const leavesReplicas = (row) => drops(row) || row.leavesReplicas

const connected = async (t, member) => {
  const client = await member.connect()
  // A busy machine may be late.
  t.true(await reached(() => put(client.records, member.group, 'group', 'before')))
  const { identity, position } = await reached(() => client.records.read(member.group, ['group']))
  return { ...client, identity, position }
}

const isGone =
  (kind) =>
  async (t, { records, store, group, identity }) => {
    const calls = [
      () => records.read(group, ['group']),
      () => records.swap(group, 'group', 'before', 'wrong', identity),
      () => records.names(group),
      () => store.advance(group, 1n, 0n),
      ...(kind.durableNeeds ? [() => records.checkDurable()] : []),
    ]
    const errors = await Promise.all(calls.map((call) => t.throwsAsync(call(), { ...STORE, message: GONE })))
    for (const error of errors) t.true(error.cause instanceof Error)
  }

/** A restart loses nothing, and is detected: earlier decisions are not carried out. */
async function isAnotherProcess(t, { row, connect, group, identity, position, ...member }) {
  const { records, store } = reconnects(row) ? member : await connect()
  const after = await reached(() => records.read(group, ['group']))
  t.deepEqual(after.values, ['before'])
  t.is(after.identity.history, identity.history)
  if (position !== undefined) t.true(after.position >= position)
  if (identity.process !== '') {
    t.not(after.identity.process, identity.process)
    t.false(await records.swap(group, 'group', 'before', 'wrong', identity))
    t.false(await records.swap(group, 'counter', null, 'wrong', identity))
  }
  t.true(await records.swap(group, 'group', 'before', 'after', after.identity))
  await works(t, store)
}

export function breakPromises(suite) {
  const { kind } = suite

  suite.whileBroken(
    'a server that ended is an error with its cause; back again, it is another process of the same history',
    {
      needs: hasOneServer,
      settings: kind.keeps,
      damages: kind.signals.map((signal) => ({
        break: ({ server }) => server.kill(signal),
        mend: ({ server }) => server.start(),
      })),
    },
    { before: connected, during: isGone(kind), after: isAnotherProcess },
  )

  suite.whileBroken(
    'a server that hangs is an error in time, and steps continue when it resumes',
    {
      needs: hasOneServer,
      damages: [
        {
          async break(site, t) {
            site.thaw = await freeze(t, site.server)
          },
          mend: ({ thaw }) => thaw(),
        },
      ],
    },
    {
      before: connected,
      async during(t, { store, group }) {
        const start = performance.now()
        const error = await t.throwsAsync(store.advance(group, 1n, 0n), { ...STORE, message: LATE })
        t.true(error.cause instanceof Error)
        t.true(performance.now() - start < 20_000)
      },
      async after(t, { row, connect, records, group, identity }) {
        const client = reconnects(row) ? records : (await connect()).records
        const { values, identity: after } = await reached(() => client.read(group, ['group']))
        t.deepEqual([values, after], [['before'], identity])
      },
    },
  )

  suite.promise(
    'silently dead connections: a step fails, and then there are new ones',
    (row) => hasOneServer(row) && drops(row),
    async (t, { row, site, connect, group }) => {
      const way = await throughProxy(t, site)
      const { records } = await connect(way.site, row.pool?.options) // of several, each would have to fail once
      for (const text of ['a', 'b']) {
        t.true(await put(records, group, 'group', text))
        way.proxy.lose()
        const error = await t.throwsAsync(records.read(group, ['group']), { ...STORE, message: LATE })
        t.truthy(error.cause)
        t.is(await textOf(records, group), text)
      }
    },
  )

  suite.promise(
    'close() does not wait for a stuck step',
    (row) => hasOneServer(row) && row.isOurs && !kind.isNeverClosed,
    async (t, { site, connect, group }) => {
      const way = await throughProxy(t, site)
      const { store, records } = await connect(way.site)
      await put(records, group, 'group', 'a')
      way.proxy.lose()
      const stuck = t.throwsAsync(records.read(group, ['group']), STORE)
      await sleep(100) // it is on its way
      t.is(await Promise.race([store.close().then(() => 'closed'), sleep(15_000, 'hangs')]), 'closed')
      await stuck
      await store.close()
      await t.throwsAsync(store.list(group), { ...STORE, message: /closed/i })
    },
  )

  suite.promise(
    'an address without a server: an error with its cause, every time, without the password',
    (row) => row.isOurs,
    async (t, { site, connect, group }) => {
      const user = site.url === undefined ? '' : new URL(site.url).username
      const { records } = await connect(movedTo(site, await freePort(), `${user || 'me'}:secret@`))
      for (let i = 0; i < 3; i++) {
        const error = await t.throwsAsync(records.read(group, ['group']), STORE)
        // ioredis hides the reason that its connections to Sentinels and nodes of a cluster had.
        t.regex(
          `${error.message} ${error.cause?.code}`,
          /ECONNREFUSED|All sentinels are unreachable|None of startup nodes/,
        )
        t.notRegex(error.message, /secret/)
      }
      await records.close()
    },
  )

  suite.promise(
    'a server that accepts the connection and stays silent is an error in time',
    (row) => row.isOurs,
    async (t, { site, connect, group }) => {
      const sockets = []
      const silent = createServer((socket) => sockets.push(socket.on('error', () => {})))
      await once(silent.listen(0, '127.0.0.1'), 'listening')
      t.teardown(() => {
        for (const socket of sockets) socket.destroy()
        silent.close()
      })
      const { records } = await connect(movedTo(site, silent.address().port))
      await t.throwsAsync(records.read(group, ['group']), STORE)
    },
  )

  suite.promise(
    'the user’s client stays open when its store is closed',
    (row) => !row.isOurs,
    async (t, { connect }) => {
      const { store } = await connect()
      await works(t, store)
      await store.close()
      await works(t, store)
    },
  )

  if (kind.demote) demotions(suite)
  if (kind.refusals) refusals(suite)
}

function demotions(suite) {
  const { kind } = suite
  suite.test(
    'a server that no longer takes writes, without a restart: a step fails, and the next one finds the new primary',
    async (t) => {
      const site = await suite.startSite(t)
      const other = stopAfter(t, await kind.startOther(site))
      const isThere = (group) => kind.get(other, group, 'group').catch(() => null) // there may be no table
      const way = await throughProxy(t, site)
      const rows = suite.rowsThat((row) => isDirect(row) && leavesReplicas(row))
      const stores = await Promise.all(rows.map(async (row) => (await suite.connect(t, row, way.site)).store))
      for (const store of stores) await works(t, store)
      await kind.demote(site, other)
      way.proxy.leadTo(other.port)
      await Promise.all(
        stores.map(async (store, i) => {
          await isRefused(t, store, rows[i].name, isThere)
          await reached(() => store.list('any')) // each connection that a pool still has is rejected once
          await works(t, store)
        }),
      )
    },
  )
}

function refusals(suite) {
  const { kind } = suite
  suite.test(
    'a write that the server definitely refuses: the reason and the way out at once, and nothing changes',
    async (t) => {
      const site = await suite.startSite(t)
      const rows = suite.rowsThat(isDirect)
      const plain = await suite.connect(t, rows[0], site)
      await put(plain.records, 'first', 'group', 'a') // where there are tables, they are created
      const asMember = (await kind.asMember?.(site)) ?? site
      const members = await Promise.all(rows.map((row) => suite.connect(t, row, asMember)))
      const { identity } = await plain.records.read('first', ['group'])
      for (const row of rows) await put(plain.records, row.name, 'group', 'a')
      for (const { what, message, ...damage } of kind.refusals) {
        await damage.break(site)
        await Promise.all(
          members.map(async ({ records }, i) => {
            const swap = records.swap(rows[i].name, 'group', 'a', 'b', identity)
            const error = await t.throwsAsync(swap, { ...STORE, message }, `${rows[i].name}: ${what}`)
            t.true(isRefusedWrite(error), `${rows[i].name}: ${what}`)
            t.true(error.cause instanceof Error)
          }),
        )
        await damage.mend(site)
      }
      for (const [i, { records }] of members.entries()) {
        t.is(await textOf(records, rows[i].name), 'a', rows[i].name)
        t.true(await put(records, rows[i].name, 'group', 'b'))
      }
    },
  )
}

/**
 * Creates groups until the server refuses one: a session may notice a setting later than another one. A connection that
 * its client ended meanwhile, because nothing was sent, is not refused: a group is at the new primary then.
 */
async function isRefused(t, store, name, isThere) {
  for (let i = 0; ; i++) {
    const group = `${name}, demoted ${i}`
    const error = await stepsOf(store, group)
      .create()
      .then(
        () => undefined,
        (thrown) => thrown,
      )
    if (error === undefined && (await isThere(group))) return t.log(`${name} had no connection`)
    if (error === undefined) continue
    t.like(error, STORE, name)
    return t.regex(error.message, /primary/, name)
  }
}
