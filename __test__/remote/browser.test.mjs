// RemoteFlakeId in Debian's Chromium, bundled as users bundle it: in a page and in a worker, on a flakeforge-server
// that allows the page's origin, and on servers that fail.

import { createServer } from 'node:http'
import anyTest from 'ava'
import { build } from 'esbuild'
import { startServer } from '../servers/flakeforge.mjs'
import { wantProgram } from '../servers/server.mjs'
import { launchBrowser } from '../support/browser.mjs'
import { root } from '../support/guides.mjs'
import { once } from '../support/waits.mjs'
import { giveIds, startScripted } from './scripted-server.mjs'

const test = wantProgram('chromium') === undefined ? anyTest.skip : anyTest.serial

let bundle
let site
let server
let browser
let page

anyTest.before(async () => {
  const entry = { contents: "export { RemoteFlakeId } from 'flakeforge/remote'", resolveDir: root }
  const { outputFiles, warnings } = await build({
    stdin: entry,
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    minify: true,
    logLevel: 'silent',
  })
  if (warnings.length > 0) throw new Error(warnings[0].text)
  bundle = outputFiles[0].text
  site = createServer((request, response) => {
    const isScript = request.url === '/remote.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html').end(isScript ? bundle : '<title>IDs')
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  const origin = `http://127.0.0.1:${site.address().port}`
  server = await startServer({ args: ['--name', 'orders', '--cors', origin] })
  browser = await launchBrowser()
  page = await browser.newPage()
  await page.goto(origin)
})
anyTest.after.always(async () => {
  await browser?.close()
  await server?.stop()
  site?.close()
})

test('a page gets IDs of the server by every call', async (t) => {
  const { types, ids, stats } = await page.evaluate(async (url) => {
    const { RemoteFlakeId } = await import('/remote.js')
    const remote = await RemoteFlakeId.connect(url, { name: 'orders', prefetch: 1000 })
    const numbers = (bytes) =>
      Array.from({ length: bytes.length / 8 }, (_, i) => String(new DataView(bytes.buffer).getBigUint64(i * 8)))
    const all = [remote.next(), remote.take(5), await remote.nextAsync(), await remote.takeAsync(12_000)]
    const called = await new Promise((resolve) => remote.next((_error, id) => resolve(id)))
    const ids = [...all.flatMap(numbers), ...numbers(called), String(remote.nextBigInt()), remote.nextString()]
    for await (const id of remote) {
      ids.push(...numbers(id))
      break
    }
    const { stats } = remote
    await remote.close()
    return { types: all.map((bytes) => bytes.constructor.name), ids, stats }
  }, server.url)
  t.deepEqual(types, ['Uint8Array', 'Uint8Array', 'Uint8Array', 'Uint8Array'])
  t.is(new Set(ids).size, 12_011)
  t.deepEqual(
    ids,
    ids.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)),
  )
  t.like(stats, { ids: 12_011, retries: 0, dropped: 0 })
})

test('a worker has its own client, and cannot be sent one', async (t) => {
  const [here, there, sent] = await page.evaluate(async (url) => {
    const { RemoteFlakeId } = await import('/remote.js')
    const remote = await RemoteFlakeId.connect(url, { name: 'orders' })
    const code = `import { RemoteFlakeId } from '${location.origin}/remote.js'
      const remote = await RemoteFlakeId.connect('${url}', { name: 'orders' })
      postMessage(Array.from({ length: 50 }, () => remote.nextString()))`
    const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })), { type: 'module' })
    const there = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = ({ message }) => reject(new Error(message))
    })
    const here = Array.from({ length: 50 }, () => remote.nextString())
    const errorOf = (clone) => {
      try {
        return typeof clone(remote)
      } catch ({ name }) {
        return name
      }
    }
    return [here, there, [structuredClone, (given) => worker.postMessage(given)].map(errorOf)]
  }, server.url)
  t.is(new Set([...here, ...there]).size, 100)
  t.deepEqual(sent, ['DataCloneError', 'DataCloneError'])
})

test('failures, redirects and disallowed origins: the next server is asked, or the error says why', async (t) => {
  const allowed = (script) => (request, response, n) => {
    response.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', '*')
    if (request.method === 'OPTIONS') response.writeHead(204).end()
    else script(request, response, n)
  }
  const elsewhere = await startScripted(t, allowed(giveIds))
  const redirects = allowed((_request, response) => response.writeHead(307, { location: elsewhere.url }).end())
  const bad = await Promise.all([
    startScripted(t, giveIds), // without CORS
    startScripted(t, redirects),
    startScripted(
      t,
      allowed((_request, response) => response.writeHead(503, { 'retry-after': '7' }).end()),
    ),
  ])
  const urls = bad.map(({ url }) => url)
  const { length, error } = await page.evaluate(
    async ([urls, good]) => {
      const { RemoteFlakeId } = await import('/remote.js')
      const options = { name: 'orders', token: 'a-token-of-this-page', waitMs: 0 }
      const remote = await RemoteFlakeId.connect([...urls, good], options)
      const { length } = await remote.takeAsync(1000)
      const { code, message, failures } = await RemoteFlakeId.connect(urls, options).catch((error) => error)
      return { length, error: { code, message, failures } }
    },
    [urls, server.url],
  )
  t.is(length, 8000)
  t.is(error.code, 'ERR_FLAKE_REMOTE')
  const reasons = new Map(error.failures.map(({ server, reason }) => [server, reason]))
  t.regex(reasons.get(urls[0]), /could not be reached/)
  t.regex(reasons.get(urls[1]), /answered with a redirect, which is not followed/)
  t.regex(reasons.get(urls[2]), /answered 503/)
  t.deepEqual(elsewhere.counts, [])
})
