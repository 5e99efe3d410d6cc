// What examples/kubernetes/leases.mjs relies on, on real API servers: the checks of stores, the rights of leases.yaml, the answers
// to writes that come too late, restarts, and backups of etcd.

import { strict as assert } from 'node:assert'
import { execFileSync } from 'node:child_process'
import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../../../__test__/servers/server.mjs'
import open from '../../../examples/kubernetes/leases.mjs'
import { ADMIN, startCluster } from './cluster.js'
import { storeAt } from './store.js'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/ids/leases'
const ANCHOR = 'flakeforge-all-history'
const GROUP = 'orders'

const nameOf = async (cluster, record) => {
  const { items } = await cluster.done('GET', `${LEASES}?labelSelector=flakeforge.dev/record=${record}`)
  return items.find(({ metadata }) => metadata.annotations['flakeforge.dev/group'] === GROUP)?.metadata.name
}

/** Calls `swap`, and does something else right before its first request of this method. */
async function before(method, meddle, swap) {
  const { fetch } = globalThis
  globalThis.fetch = async (url, init) => {
    if (init.method === method) {
      globalThis.fetch = fetch
      await meddle()
    }
    return fetch(url, init)
  }
  try {
    return await swap()
  } finally {
    globalThis.fetch = fetch
  }
}

/** Two clients, each on its API server. */
const clientsOf = ({ place: { servers, ...place } }) =>
  Promise.all(servers.map((server) => storeAt({ ...place, server })))

const TESTS = {
  async 'the role of leases.yaml allows what the store does, and nothing else'(cluster) {
    const token = await readFile(cluster.tokenFile, 'utf8')
    const statusOf = async (...request) => (await cluster.ask(...request, undefined, token)).status
    assert.equal(await statusOf('GET', LEASES), 200)
    assert.equal(await statusOf('GET', `${LEASES}/${ANCHOR}`), 403)
    assert.equal(await statusOf('DELETE', `${LEASES}/${ANCHOR}`), 403)
    assert.equal(await statusOf('GET', LEASES.replace('/ids/', '/default/')), 403)
  },

  async 'each client sees at once what was written through the other server'(cluster) {
    const clients = await clientsOf(cluster)
    const { identity } = await clients[0].read(GROUP, ['group'])
    let [text, highest] = [null, 0n]
    for (let i = 0; i < 200; i++) {
      const next = `text ${i}`
      assert.equal(await clients[i % 2].swap(GROUP, 'group', text, next, identity), true)
      const { values, position } = await clients[(i + 1) % 2].read(GROUP, ['group'])
      assert.deepEqual(values, [next])
      assert(position > highest, `${position} after ${highest}`)
      ;[text, highest] = [next, position]
    }
  },

  async 'a write that comes too late is not done'(cluster) {
    const [mine, other] = await clientsOf(cluster)
    const { identity, values } = await mine.read(GROUP, ['group'])
    const [text] = values
    const swap = () => mine.swap(GROUP, 'group', text, 'late', identity)
    const lease = `${LEASES}/${await nameOf(cluster, 'group')}`
    const saved = await cluster.done('GET', lease)

    assert.equal(await before('PUT', () => other.swap(GROUP, 'group', text, 'first', identity), swap), false)
    assert.deepEqual((await mine.read(GROUP, ['group'])).values, ['first'])
    await other.swap(GROUP, 'group', 'first', text, identity)

    assert.equal(await before('PUT', () => cluster.done('DELETE', lease), swap), false)
    assert.deepEqual((await mine.read(GROUP, ['group'])).values, [null])

    const { name, labels, annotations } = saved.metadata
    const again = { ...saved, metadata: { name, labels, annotations } }
    await cluster.done('POST', LEASES, again)
    const remake = async () => {
      await cluster.done('DELETE', lease)
      await cluster.done('POST', LEASES, again)
    }
    assert.equal(await before('PUT', remake, swap), false)
    assert.deepEqual((await mine.read(GROUP, ['group'])).values, [text])

    const create = () => mine.swap(GROUP, 'slot0000000001', null, 'late', identity)
    assert.equal(await before('POST', () => cluster.done('DELETE', LEASES), create), false)
    assert.notEqual((await mine.read(GROUP, ['group'])).identity.history, identity.history)
  },

  async 'a namespace that is not there is an error that says so'(cluster) {
    const { servers, ...place } = cluster.place
    const store = await storeAt({ ...place, server: servers[0], namespace: 'missing' })
    await assert.rejects(store.read(GROUP, ['group']), /answered 403 .*missing/)
    const settings = { server: servers[0], namespace: async () => 'missing', token: async () => ADMIN }
    await assert.rejects((await open(settings)).read(GROUP, ['group']), /answered 404 .*missing/)
  },

  async 'restarts of the API servers and of etcd lose nothing'(cluster) {
    const [client] = await clientsOf(cluster)
    let { identity, position, values } = await client.read(GROUP, ['group'])
    for (const server of [cluster.apis[0], cluster.etcd, cluster.apis[0]]) {
      const next = `before ${position}`
      assert.equal(await client.swap(GROUP, 'group', values[0], next, identity), true)
      await server.kill()
      await assert.rejects(client.read(GROUP, ['group']))
      await server.start()
      await until(() => client.read(GROUP, ['group']).catch(() => false), { everyMs: 200 })
      const after = await client.read(GROUP, ['group'])
      assert.deepEqual(after.values, [next])
      assert.deepEqual(after.identity, identity)
      assert(after.position > position, `${after.position} after ${position}`)
      ;({ identity, position, values } = after)
    }
  },

  async 'an older copy of etcd shows in the position, unless its revision was raised'(cluster) {
    const [client] = await clientsOf(cluster)
    const copy = `${cluster.etcd.data}-copy`
    await cluster.kill()
    await cp(cluster.etcd.data, copy, { recursive: true })
    await cluster.startAll()
    const { identity, values } = await client.read(GROUP, ['group'])
    let [text] = values
    for (let i = 0; i < 50; i++) {
      assert.equal(await client.swap(GROUP, 'group', text, `forgotten ${i}`, identity), true)
      text = `forgotten ${i}`
    }
    const { position } = await client.read(GROUP, ['group'])

    const restore = async (...flags) => {
      await cluster.kill()
      await rm(cluster.etcd.data, { recursive: true })
      const snapshot = join(copy, 'member', 'snap', 'db')
      const to = ['--data-dir', cluster.etcd.data, '--skip-hash-check', ...flags]
      const args = ['snapshot', 'restore', snapshot, ...to, ...cluster.etcd.peers]
      execFileSync(cluster.programs.etcdutl, args, { stdio: 'pipe' })
      await cluster.startAll()
      return client.read(GROUP, ['group'])
    }
    const older = await restore()
    assert.deepEqual([older.identity, older.values], [identity, values])
    assert(older.position < position, `${older.position} after ${position}`)
    const raised = await restore('--bump-revision', '1000000', '--mark-compacted')
    assert.deepEqual([raised.identity, raised.values], [identity, values])
    assert(raised.position > position, `${raised.position} after ${position}`)
  },

  async 'without its anchor, all that was there has another history'(cluster) {
    const [client] = await clientsOf(cluster)
    const { identity } = await client.read(GROUP, ['group'])
    await cluster.done('DELETE', `${LEASES}/${ANCHOR}`)
    assert.notEqual((await client.read(GROUP, ['group'])).identity.history, identity.history)
  },
}

/** @param {(module: string, env: object) => Promise<void>} checkStore runs flakeforge-check-store */
export async function testKubernetes(checkStore) {
  const cluster = await startCluster()
  try {
    const { gitVersion } = await cluster.done('GET', '/version')
    console.log(`kube-apiserver ${gitVersion}, two of them`)
    await checkStore(join(import.meta.dirname, 'store.js'), { LEASES: JSON.stringify(cluster.place) })
    for (const [name, test] of Object.entries(TESTS)) {
      await test(cluster)
      console.log(`ok      ${name}`)
    }
  } finally {
    await cluster.stop()
  }
}
