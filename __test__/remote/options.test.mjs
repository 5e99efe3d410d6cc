// The options of connect(): a wrong value is an error that names it, before anything is sent. A secret is never shown.

import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import test from 'ava'
import { RemoteFlakeId } from 'flakeforge/remote'
import { connect, startScripted } from './scripted-server.mjs'

const require = createRequire(import.meta.url)
const URL_OF_NOBODY = 'http://127.0.0.1:9'

/** Whether any request was made. */
let sent = 0
const fetch = async () => {
  sent++
  throw new Error('no server may be asked')
}
test.after.always((t) => t.is(sent, 0))

const refused = (t, urls, options, Type, message) =>
  t.throwsAsync(RemoteFlakeId.connect(urls, { name: 'orders', fetch, ...options }), {
    instanceOf: Type,
    code: 'ERR_FLAKE_OPTION',
    message,
  })

test('options of the wrong type or out of their bounds are rejected', async (t) => {
  for (const [options, Type, message] of [
    [{ name: undefined }, TypeError, /^name must be .* but is undefined/],
    [{ name: 5 }, TypeError, /^name must be/],
    [{ name: '' }, RangeError, /^name must be .* 1 to 128 characters/],
    [{ name: 'x'.repeat(129) }, RangeError, /^name/],
    [{ name: '..' }, RangeError, /^name/],
    [{ name: '.' }, RangeError, /^name/],
    [{ name: 'a\nb' }, RangeError, /^name/],
    [{ name: '{a}' }, RangeError, /^name/],
    [{ name: '\ud800' }, RangeError, /^name/],
    [{ prefetch: 0 }, RangeError, /^prefetch must be an integer from 1 to 10000, but is 0/],
    [{ prefetch: 10_001 }, RangeError, /^prefetch/],
    [{ prefetch: true }, TypeError, /^prefetch/],
    [{ prefetch: '1e3' }, RangeError, /^prefetch/],
    [{ validityMs: -1 }, RangeError, /^validityMs/],
    [{ validityMs: Number.NaN }, RangeError, /^validityMs/],
    [{ timeoutMs: 0 }, RangeError, /^timeoutMs must be an integer from 1 to 2147483647/],
    [{ timeoutMs: 2 ** 31 }, RangeError, /^timeoutMs/],
    [{ waitMs: -1 }, RangeError, /^waitMs/],
    [{ fetch: 5 }, TypeError, /^fetch must be a function/],
    [{ signal: 5 }, TypeError, /^signal must be an AbortSignal/],
    [{ prefetsch: 5 }, TypeError, /^Unknown option 'prefetsch'\. Did you mean 'prefetch'\?/],
    [{ group: 'orders' }, TypeError, /^Unknown option 'group'\. The options are name, prefetch/],
  ]) {
    const error = await refused(t, URL_OF_NOBODY, options, Type, message)
    t.is(error.option, Object.keys(options)[0])
  }
  await t.throwsAsync(RemoteFlakeId.connect(URL_OF_NOBODY, 'orders'), { code: 'ERR_FLAKE_OPTION', message: /^options/ })
  await t.throwsAsync(RemoteFlakeId.connect(URL_OF_NOBODY), { code: 'ERR_FLAKE_OPTION', message: /^name/ })
})

test('invalid addresses are rejected', async (t) => {
  for (const [urls, Type, message] of [
    [undefined, TypeError, /^urls must be the URL of a server, or an array of URLs, but is undefined/],
    [[], RangeError, /^urls must be/],
    [[5], TypeError, /^urls must be/],
    ['localhost:8080', RangeError, /^urls must be a URL such as 'https:.*, but is 'localhost:8080'/],
    ['/v1', RangeError, /^urls/],
    ['', RangeError, /^urls/],
    ['ftp://localhost', RangeError, /^urls/],
    ['file:///tmp/ids', RangeError, /^urls/],
    ['http://', RangeError, /^urls/],
    ['http://localhost/?name=orders', TypeError, /^urls must not contain an @, a query or a fragment/],
    ['http://localhost/#orders', TypeError, /^urls must not contain an @, a query or a fragment/],
    ['http://localhost:80/a@b', TypeError, /^urls must not contain an @, .*\(http:\/\/…@b\)/],
    [[URL_OF_NOBODY, 'nothing'], RangeError, /'nothing'/],
  ]) {
    const error = await refused(t, urls, {}, Type, message)
    t.is(error.option, 'urls')
  }
})

test('user and password in an address are rejected, and never shown', async (t) => {
  for (const url of [
    'http://user:se-cret@localhost:8080',
    'http://se-cret@localhost',
    'https://:se-cret@localhost',
    'htp://user:se-cret@localhost',
    'user:se-cret@localhost:8080',
    'http://localhost:99999/?token=se-cret',
    'http://localhost/?token=se-cret',
    'http://localhost/#se-cret',
  ]) {
    const error = await t.throwsAsync(RemoteFlakeId.connect(url, { name: 'orders', fetch }), {
      code: 'ERR_FLAKE_OPTION',
    })
    t.false(`${error.stack}${inspect(error, { depth: 9 })}`.includes('se-cret'), url)
  }
  await refused(
    t,
    'http://u:p@localhost:8080',
    {},
    TypeError,
    /not contain a user and password \(localhost:8080\).*token/,
  )
})

test('a token that does not fit a header is rejected, and never shown', async (t) => {
  for (const token of ['', 'se-cret with spaces', 'se-cret\n', 'se-cret\r\nx: y', 'se-crét', 5, { token: 'se-cret' }]) {
    const error = await refused(t, URL_OF_NOBODY, { token }, TypeError, /^token must be a text of visible ASCII/)
    t.false(`${error.stack}${inspect(error, { depth: 9 })}`.includes('se-cr'))
    t.is(error.value, undefined)
  }
})

test('options as environment variables give them, and null for absent', async (t) => {
  const server = await startScripted(t)
  const text = await connect(t, server, { prefetch: '5', validityMs: '0', timeoutMs: '30000', waitMs: '0' })
  t.is(text.stats.buffered, 5)
  const names = ['prefetch', 'validityMs', 'timeoutMs', 'waitMs', 'token', 'fetch', 'signal']
  const absent = Object.fromEntries(names.map((name) => [name, null]))
  t.is((await connect(t, server, absent)).stats.buffered, 100)
  const url = await RemoteFlakeId.connect(new URL(server.url), { name: 'orders' })
  t.is(url.stats.server, server.url)
  const twice = await RemoteFlakeId.connect([server.url, server.url.slice(0, -1)], { name: 'orders' })
  t.is(twice.stats.server, server.url)
})

test('a fetch of the user is called as a plain function', async (t) => {
  const server = await startScripted(t)
  let self = 'none'
  const remote = await connect(t, server, {
    fetch(...args) {
      self = this
      return globalThis.fetch(...args)
    },
  })
  t.is(remote.take(5).length, 40)
  t.is(self, undefined, 'browsers refuse a fetch that is called as a method of something else')
})

test('flakeforge/remote exports the class by name, for both kinds of modules', async (t) => {
  const [esm, cjs] = [await import('flakeforge/remote'), require('flakeforge/remote')]
  t.is(esm.RemoteFlakeId, cjs.RemoteFlakeId)
  t.deepEqual(Object.keys(esm), ['FlakeError', 'RemoteFlakeId'])
  t.deepEqual(Object.keys(cjs), ['FlakeError', 'RemoteFlakeId'])
})
