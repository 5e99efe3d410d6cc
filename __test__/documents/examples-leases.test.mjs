// examples/kubernetes/leases.mjs does what a store has to, on a small server of the API, which is not kube-apiserver.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import open from '../../examples/kubernetes/leases.mjs'
import { startLeases } from '../servers/leases.mjs'

const pathOf = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

async function started(t) {
  const server = await startLeases()
  t.teardown(() => server.stop())
  const store = (token = 'token') =>
    open({ server: server.url, namespace: async () => 'default\n', token: async () => token })
  return { server, store }
}

test('it passes the checks of stores', async (t) => {
  t.timeout(300_000)
  const { server } = await started(t)
  const args = [
    pathOf('packages/check-store/dist/flakeforge-check-store.mjs'),
    pathOf('__test__/workers/leases-store.mjs'),
  ]
  const checking = promisify(execFile)(process.execPath, args, { env: { ...process.env, LEASES_SERVER: server.url } })
  const { stdout } = await checking.catch((error) => error)
  t.regex(stdout, /^All \d+ checks passed/m, stdout)
})

test('a client sees that all Leases are gone, and writes nothing that was decided before', async (t) => {
  const { server, store } = await started(t)
  const client = await store()
  const { identity } = await client.read('orders', ['group'])
  t.true(await client.swap('orders', 'group', null, 'one', identity))
  server.wipe()
  t.false(await client.swap('orders', 'group', 'one', 'two', identity))
  t.false(await client.swap('orders', 'group', null, 'two', identity))
  const after = await client.read('orders', ['group'])
  t.deepEqual(after.values, [null])
  t.not(after.identity.history, identity.history)
})

test('its position falls when an older state is put back, and an answer that is no is an error', async (t) => {
  const { server, store } = await started(t)
  const client = await store()
  const { identity, position } = await client.read('orders', ['group'])
  for (const [from, to] of [
    [null, 'one'],
    ['one', 'two'],
    ['two', 'three'],
  ])
    await client.swap('orders', 'group', from, to, identity)
  t.is((await client.read('orders', ['group'])).position, position + 3n)
  server.rewind(3)
  t.is((await client.read('orders', ['group'])).position, position)
  const stranger = await store('another')
  await t.throwsAsync(stranger.read('orders', ['group']), { message: /answered 401/ })
})
