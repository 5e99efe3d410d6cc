// An etcd that lost acknowledged writes: wiped, restored from a snapshot, replaced by another cluster. A restart is not
// a loss.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from '../servers/server.mjs'
import { DATABASES, startDurable } from './databases.mjs'
import { testLosses } from './loss.mjs'

const run = promisify(execFile)

const start = (t) => startDurable(t, DATABASES.etcd)

async function wipe({ server }) {
  await server.wipe()
  await server.start()
}

/** Stops the server, and starts it from a snapshot. */
async function restore(server, file, options = []) {
  await server.wipe()
  const settings = { name: server.name, 'initial-advertise-peer-urls': server.peerUrl, 'data-dir': server.data }
  const args = Object.entries({ ...settings, 'initial-cluster': `${server.name}=${server.peerUrl}` })
  const words = ['snapshot', 'restore', file, ...args.flatMap(([name, value]) => [`--${name}`, value]), ...options]
  await run(findProgram('etcdctl'), words, { env: { ...process.env, ETCDCTL_API: '3' } })
  await server.start()
}

/** A server that goes back to a snapshot, restored with these options. */
const backToSnapshot = (options) => async (t) => {
  const { server, url } = await start(t)
  const file = join(server.folder, 'snapshot')
  const lose = async () => {
    await restore(server, file, options)
    return url
  }
  const mark = async () => {
    await server.ctl('snapshot', 'save', file)
    return lose
  }
  return { url, mark }
}

const { test, hold, memberOf } = testLosses(DATABASES.etcd, {
  place: start,
  losses: {
    'a wiped member': wipe,
    'all keys removed': ({ server }) => server.ctl('del', '--prefix', 'flakeforge/'),
  },
  rollbacks: {
    'a snapshot restored under a new token': backToSnapshot(['--initial-cluster-token', 'another']),
    // The cluster ID stays. Only members from before see that the revision fell, and tell the others.
    'a snapshot restored under the same token': backToSnapshot([]),
  },
  isFit: true,
})

test('a wiped member whose group was recreated in the meantime: a member from before makes it quiet', async (t) => {
  const place = await start(t)
  const old = await hold(t, place.url)
  for (let i = 0; i < 10; i++) await old.renew() // further than the new members
  await wipe(place)
  const newcomer = await hold(t, place.url)
  const { retryAt } = await t.throwsAsync(old.renew(), { code: 'ERR_FLAKE_QUIET' })
  t.true(retryAt > old.grant.hi)
  const next = memberOf(t, place.url)
  t.deepEqual((await t.throwsAsync(next.acquire(), { code: 'ERR_FLAKE_QUIET' })).retryAt, retryAt)
  t.is((await newcomer.renew()).slot, newcomer.grant.slot)
})
