// IDs stay in memory: copying a client copies none of its IDs, and the module loads without an addon.

import { execFile, spawn } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { serialize } from 'node:v8'
import anyTest from 'ava'
import { freshFolder } from '../servers/server.mjs'
import { root } from '../support/guides.mjs'
import { outputOf } from '../support/index.mjs'
import { connect, startScripted } from './scripted-server.mjs'

const run = promisify(execFile)

anyTest('a client cannot be cloned, and JSON contains no ID and no token of it', async (t) => {
  const remote = await connect(t, await startScripted(t))
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  for (const clone of [structuredClone, serialize, (given) => port2.postMessage(given)])
    t.throws(() => clone(remote), { any: true })
  const json = JSON.stringify(remote)
  t.regex(json, /"urls"|"name"/)
  t.notRegex(json, /token|\d{15}/)
  t.is(remote.stats.buffered, 100)
})

const hasBuiltins = typeof process.getBuiltinModule === 'function'
const test = hasBuiltins ? anyTest : anyTest.skip

/** Connects while a snapshot is built; its `fetch` needs no network, which Node.js does not have there. */
const BUILDER = `
  const { startupSnapshot } = require('node:v8')
  const { RemoteFlakeId } = require(${JSON.stringify(join(root, 'dist', 'remote.cjs'))})
  let last = 0n
  async function fetch(url, { headers: asked }) {
    const bytes = new DataView(new ArrayBuffer(8 * Number(/n=(\\d+)$/.exec(url)[1])))
    for (let at = 0; at < bytes.byteLength; at += 8) bytes.setBigUint64(at, ++last)
    const headers = new Map([['content-type', 'application/octet-stream'], ['flakeforge-nonce', asked['flakeforge-nonce']]])
    return { status: 200, headers, arrayBuffer: async () => bytes.buffer }
  }
  RemoteFlakeId.connect('http://localhost', { name: 'orders', fetch }).then((remote) => {
    const first = String(remote.nextBigInt())
    startupSnapshot.setDeserializeMainFunction(async () => {
      const { buffered, dropped } = remote.stats
      const later = String(new DataView((await remote.nextAsync()).buffer).getBigUint64(0))
      console.log(JSON.stringify({ first, buffered, dropped, later }))
    })
  })`

test('a process that starts from a snapshot has none of the IDs that were in it', async (t) => {
  const folder = await freshFolder('snapshot')
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const [entry, bundle, blob] = ['entry.cjs', 'bundle.cjs', 'snapshot.blob'].map((name) => join(folder, name))
  await writeFile(entry, BUILDER)
  const { buildSync } = await import('esbuild')
  buildSync({ entryPoints: [entry], outfile: bundle, bundle: true, platform: 'node', logLevel: 'error' })
  await run(process.execPath, ['--snapshot-blob', blob, '--build-snapshot', bundle])
  const { stdout } = await run(process.execPath, ['--snapshot-blob', blob])
  t.deepEqual(JSON.parse(stdout), { first: '1', buffered: 0, dropped: 99, later: '101' })
})

anyTest('it loads no addon and no module of Node.js, and an idle client keeps no process alive', async (t) => {
  const server = await startScripted(t)
  const program = `
    import { createRequire } from 'node:module'
    import { RemoteFlakeId } from ${JSON.stringify(join(root, 'dist', 'remote.mjs'))}
    const remote = await RemoteFlakeId.connect(${JSON.stringify(server.url)}, { name: 'orders', waitMs: 1e9, timeoutMs: 60_000 })
    const { cache } = createRequire(import.meta.url)
    console.log(Object.keys(cache).filter((file) => /native|[.]node$/.test(file)).length, remote.next().length)
    remote.take(98)
    await remote.nextAsync()
    const controller = new AbortController()
    const call = remote.takeAsync(1e6, { signal: controller.signal })
    const look = () => {
      try {
        remote.next()
      } catch (error) {
        if (error.cause !== undefined) return controller.abort()
      }
      setImmediate(look)
    }
    look()
    await call.catch((error) => console.log(error.name))`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, NAPI_RS_NATIVE_LIBRARY_PATH: join(root, 'nothing.node') },
  })
  const asked = server.asked(2).then(() => server.stop()) // so that the calls find no server
  const { code, stdout, stderr } = await outputOf(child)
  await asked
  t.is(code, 0, stderr)
  t.is(stdout, '0 8\nAbortError\n')
})
