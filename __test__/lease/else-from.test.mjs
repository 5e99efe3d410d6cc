// join() with `elseFrom`: a member without a slot gets its IDs from flakeforge-server, by every call; one clear error
// where no server and no slot can give IDs; and no IDs from a server of another group. The server is a real one, on
// slot files. else-from-changes.test.mjs tests how a member changes between its slot and servers.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { freePort, freshFolder, until } from '../servers/server.mjs'
import { FlakeId, isAscending, numberOf, split } from '../support/index.mjs'
import { allCalls, blockingCalls, joinAs, waitingCalls } from '../support/lease.mjs'

const require = createRequire(import.meta.url)
const EPOCH = 1_000_000
/** One slot, held by the server, so that no other process gets one. */
const ONE = { epoch: EPOCH, slots: 1 }

const NAMES = {
  taken: ONE,
  numbers: { ...ONE, layout: 'safe' },
  elsewhere: { ...ONE, group: 'taken' }, // on another store
  'other-epoch': { ...ONE, epoch: EPOCH + 1 },
  counter: { segment: 'counter' },
}

/** ava does not treat a DOMException as an Error. */
const ABORTED = { any: true, name: 'AbortError' }

let server
let store
let closedPort

test.before(async () => {
  const [here, elsewhere] = [await freshFolder('here'), await freshFolder('elsewhere')]
  store = `file:${here}`
  const names = { ...NAMES, elsewhere: { ...NAMES.elsewhere, store: `file:${elsewhere}` } }
  const config = join(here, 'server.json')
  require('node:fs').writeFileSync(config, JSON.stringify({ names }))
  server = await startServer({ args: ['--config', config, '--store', store] })
  closedPort = await freePort()
})

test.after.always(() => server?.stop())

const options = (more) => ({ group: 'taken', ...ONE, waitMs: 0, elseFrom: server.url, ...more })

/** A member without a slot. */
async function without(t, more) {
  const flake = await joinAs(t, store, options(more))
  return flake
}

test('a member without a slot still gets 100 IDs', async (t) => {
  const flake = await without(t)
  t.like(flake, { state: 'detached', slot: undefined, expires: undefined, source: 'server', id: undefined })
  const ids = []
  for (let i = 0; i < 100; i++) ids.push(numberOf(await flake.nextAsync()))
  t.true(isAscending(ids))
  const { slot } = await (await fetch(`${server.url}/v1/names`)).json().then(({ names }) => names[0])
  for (const id of ids) t.is(flake.decode(id).id, slot, 'the node number is that of the server')
  t.like(flake.stats, { ids: 0, fromServers: 100 })
})

test('with a slot, no server is asked for IDs', async (t) => {
  const flake = await joinAs(t, store, options({ group: 'free', elseFrom: `http://127.0.0.1:${closedPort}` }))
  t.like(flake, { state: 'attached', slot: 0, source: 'slot' })
  flake.take(10)
  t.like(flake.stats, { ids: 10, fromServers: 0 })
})

test('without elseFrom a member also reports where its IDs come from', async (t) => {
  const flake = await joinAs(t, store, { ...ONE, group: 'alone', epoch: EPOCH + 7 })
  t.is(flake.source, 'slot')
  t.false('fromServers' in flake.stats)
  await flake.detach()
  t.is(flake.source, undefined)
})

test('every call gives IDs, none twice', async (t) => {
  const flake = await without(t)
  const ids = []
  for (const call of Object.values(allCalls)) {
    const given = await call(flake)
    ids.push(...(ArrayBuffer.isView(given) ? split(given).map(numberOf) : [BigInt(given)]))
  }
  for (const base of ['dec', 'hex', 'base32', 'base62'])
    ids.push(FlakeId.toBigInt(FlakeId.parse(flake.nextString(base), base)))
  ids.push(...flake.takeStrings(5).map(BigInt), ...flake.takeStrings(40, 'hex').map((text) => BigInt(`0x${text}`)))
  let rounds = 0
  for await (const id of flake) {
    ids.push(numberOf(id))
    if (++rounds === 3) break
  }
  for await (const id of flake.ids({ signal: AbortSignal.timeout(60_000) })) {
    ids.push(numberOf(id))
    if (++rounds === 6) break
  }
  t.is(new Set(ids).size, ids.length)
  t.is(flake.stats.fromServers, ids.length)
  for (const id of ids) t.is(flake.decode(id).id, 0)
})

test('numbers: of a suitable layout, one by one and many at a time; of another, the usual error', async (t) => {
  const flake = await without(t, { group: 'numbers', layout: 'safe' })
  const [one, many] = [flake.nextNumber(), [...flake.takeNumbers(20)]]
  const asBigInts = [...flake.takeBigInts(20)]
  const ids = [one, ...many, ...asBigInts.map(Number)]
  t.true(ids.every((id) => Number.isSafeInteger(id)))
  t.true(isAscending(ids.map(BigInt)))
  const wide = await without(t)
  t.throws(() => wide.nextNumber(), { code: 'ERR_FLAKE_OPTION', message: /cannot return IDs as numbers/ })
  t.throws(() => wide.takeNumbers(3), { code: 'ERR_FLAKE_OPTION' })
})

test('a call that does not wait gets an available ID, or an error with the time to try again', async (t) => {
  const flake = await without(t, { elseFrom: { urls: [server.url], prefetch: 10 } })
  t.is(flake.take(10).length, 80)
  for (const call of Object.values(blockingCalls)) {
    const error = t.throws(() => call(flake), { code: 'ERR_FLAKE_OVERFLOW' })
    t.true(Number.isInteger(error.retryAfterMs) && error.retryAfterMs >= 1)
  }
  await flake.nextAsync()
  t.throws(() => flake.take(5000), { code: 'ERR_FLAKE_OVERFLOW', message: /5000 IDs .* only \d+ are available/ })
  await flake.nextAsync() // behind the answer to that
  await t.notThrowsAsync(async () => {
    while (flake.stats.fromServers < 5000) {
      try {
        flake.take(5000)
      } catch (error) {
        if (error.code !== 'ERR_FLAKE_OVERFLOW') throw error
        await flake.nextAsync()
      }
    }
  }, 'the rejected call requested that many')
})

test('waiting calls are served in order, and few requests serve many', async (t) => {
  let requests = 0
  const counting = (...args) => {
    if (String(args[0]).includes('/v1/ids/')) requests++
    return fetch(...args)
  }
  const flake = await without(t, { elseFrom: { urls: server.url, fetch: counting } })
  const order = []
  const calls = Array.from({ length: 10_000 }, async (_, i) => {
    const id = numberOf(await flake.nextAsync())
    order.push(i)
    return id
  })
  const ids = await Promise.all(calls)
  t.true(isAscending(ids))
  t.true(order.every((at, i) => at === i))
  t.true(requests <= 110, String(requests))
})

test('one call takes more than one request can bring', async (t) => {
  const flake = await without(t)
  const bytes = await flake.takeAsync(25_000)
  t.is(new Set(split(bytes).map(numberOf)).size, 25_000)
})

test('a signal ends a waiting call, and takes no ID', async (t) => {
  const held = gate()
  const flake = await without(t, { elseFrom: { urls: server.url, prefetch: 1, fetch: held.fetch } })
  flake.next()
  held.close()
  const stop = new AbortController()
  const waiting = [flake.nextAsync({ signal: stop.signal }), flake.takeAsync(3, { signal: stop.signal })]
  stop.abort()
  for (const call of waiting) await t.throwsAsync(call, ABORTED)
  held.open()
  await flake.nextAsync()
  t.is(flake.stats.fromServers, 2)
})

/** A link to the server that can be closed: requests wait until it is open again. */
function gate() {
  let opened = Promise.resolve()
  let open = () => {}
  const close = () => {
    opened = new Promise((resolve) => {
      open = resolve
    })
  }
  const through = async (...args) => {
    await opened
    return fetch(...args)
  }
  return { fetch: through, close, open: () => open() }
}

// --- no source of IDs ---

test('no source of numbers: one error that names the reasons of the store and of each server', async (t) => {
  const urls = [`http://127.0.0.1:${closedPort}`, `http://127.0.0.1:${closedPort}/below/`]
  const elseFrom = { urls, waitMs: 0, timeoutMs: 1000 }
  const error = await t.throwsAsync(FlakeId.join(store, options({ elseFrom })), { code: 'ERR_FLAKE_REMOTE' })
  t.regex(
    error.message,
    /^This generator of group 'taken' has neither a slot nor a server to get IDs from\. The store: No slot of group 'taken'/,
  )
  for (const url of urls) t.true(error.message.includes(url), error.message)
  t.is(error.group, 'taken')
  t.is(error.cause.code, 'ERR_FLAKE_EXHAUSTED')
  t.is(error.failures.length, 2)
})

test('an unreachable store: servers give IDs; and without servers, the error names both', async (t) => {
  const away = `redis://127.0.0.1:${closedPort}`
  const flake = await joinAs(t, away, options())
  t.is(flake.source, 'server')
  t.is(flake.decode(flake.nextBigInt()).id, 0)
  const elseFrom = { urls: `http://127.0.0.1:${closedPort}`, waitMs: 0 }
  const error = await t.throwsAsync(FlakeId.join(away, options({ elseFrom })), { code: 'ERR_FLAKE_REMOTE' })
  t.is(error.cause.code, 'ERR_FLAKE_STORE')
})

test('a problem that waiting cannot solve is an error, even with servers', async (t) => {
  const error = await t.throwsAsync(FlakeId.join(store, options({ slots: 2 })), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
  t.regex(error.message, /has 1 slots; this process uses 2 slots/)
})

test('a signal ends a join that waits for servers', async (t) => {
  const stop = new AbortController()
  const elseFrom = {
    urls: server.url,
    timeoutMs: 600_000, // so that nothing else ends it
    fetch: (_, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        stop.abort()
      }),
  }
  await t.throwsAsync(FlakeId.join(store, options({ elseFrom, signal: stop.signal })), ABORTED)
})

// --- servers of another group ---

for (const [name, what, pattern] of [
  [
    'other-epoch',
    'with another layout',
    /other-epoch' has the layout .*, and that of this generator of group 'taken' has the layout /,
  ],
  [
    'counter',
    'of a SegmentId',
    /'counter' has no layout, like a SegmentId, and that of this generator of group 'taken' has /,
  ],
  [
    'elsewhere',
    'on another store',
    /'elsewhere' has the group \w{16}, and that of this generator of group 'taken' has the group \w{16}\./,
  ],
]) {
  test(`a name ${what} gives no ID`, async (t) => {
    const elseFrom = { urls: server.url, name }
    const error = await t.throwsAsync(FlakeId.join(store, options({ elseFrom })), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
    t.regex(error.message, pattern)
    t.true(error.message.includes(server.url), 'it names the server')
    t.is(error.cause.code, 'ERR_FLAKE_EXHAUSTED')
  })
}

test('a name that the server does not have', async (t) => {
  const elseFrom = { urls: server.url, name: 'tacken' }
  const error = await t.throwsAsync(FlakeId.join(store, options({ elseFrom })), { code: 'ERR_FLAKE_NAME' })
  t.regex(error.message, /taken/)
})

test.serial('a member with a slot learns at its start that a server uses another store', async (t) => {
  const { emitWarning } = process
  t.teardown(() => {
    process.emitWarning = emitWarning
  })
  const warned = new Promise((resolve) => {
    process.emitWarning = (message, { code }) => resolve({ message, code })
  })
  const elseFrom = { urls: server.url, name: 'elsewhere' }
  await joinAs(t, store, options({ group: 'free-too', epoch: EPOCH, elseFrom }))
  const { message, code } = await warned
  t.is(code, 'FLAKEFORGE_ELSE_FROM')
  t.regex(message, /'elsewhere' has the group \w{16}, and that of this generator of group 'free-too' has /)
})

test('close() ends a comparison in progress, which would keep the process alive', async (t) => {
  const asked = []
  const hanging = (url, { signal }) => {
    asked.push({ url: String(url), signal })
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const elseFrom = { urls: server.url, fetch: hanging, timeoutMs: 600_000 }
  const flake = await FlakeId.join(store, options({ group: 'short', epoch: EPOCH + 9, elseFrom }))
  t.regex(asked[0].url, /v1\/slots\/short$/)
  await flake.close()
  t.true(asked[0].signal.aborted)
  t.is(asked.length, 1)
})

// --- options ---

test('elseFrom is checked like other options', async (t) => {
  const refuses = async (elseFrom, pattern, option) => {
    const error = await t.throwsAsync(FlakeId.join(store, options({ elseFrom })), { code: 'ERR_FLAKE_OPTION' })
    t.regex(error.message, pattern)
    t.is(error.option, option)
  }
  await refuses([], /^elseFrom must be the URL of a server/, 'elseFrom')
  await refuses(7, /^elseFrom must be the URL/, 'elseFrom')
  await refuses('redis://localhost', /^elseFrom must be a URL such as 'https:/, 'elseFrom')
  await refuses('http://user:secret@host', /^elseFrom must not contain a user and password/, 'elseFrom')
  await refuses(
    { urls: server.url, prefetch: 0 },
    /^elseFrom\.prefetch must be an integer from 1 to 10000/,
    'elseFrom.prefetch',
  )
  await refuses({ urls: server.url, tokn: 'x' }, /token/, 'tokn')
  await refuses({ url: server.url }, /urls/, 'url')
})

test('detach() ends the IDs of servers, and attach() brings them back; close() is final', async (t) => {
  const flake = await without(t)
  await flake.nextAsync()
  await flake.detach()
  t.is(flake.source, undefined)
  for (const call of Object.values(allCalls))
    await t.throwsAsync(async () => call(flake), { code: 'ERR_FLAKE_DETACHED' })
  await flake.attach()
  t.is(flake.source, 'server')
  await flake.nextAsync()
  await flake.close()
  t.is(flake.source, undefined)
  for (const call of Object.values(waitingCalls)) {
    await t.throwsAsync(async () => call(flake), { code: 'ERR_FLAKE_DETACHED', message: /is closed/ })
  }
})

test('calls of attach() at the same time share a request to the servers, until the last of them aborts', async (t) => {
  let [requests, abandoned] = [0, 0]
  let held
  let goOn
  const elseFrom = {
    urls: server.url,
    async fetch(url, init) {
      if (init.method === 'POST') {
        requests++
        init.signal.addEventListener('abort', () => abandoned++)
        await held
      }
      return fetch(url, init)
    },
  }
  const flake = await without(t, { elseFrom })
  const attach = async (count) => {
    await flake.detach()
    requests = 0
    held = new Promise((resolve) => {
      goOn = resolve
    })
    const over = Array.from({ length: count }, () => new AbortController())
    const calls = over.map(({ signal }) => flake.attach({ signal }))
    await until(() => requests > 0)
    return { over, calls }
  }

  const some = await attach(3)
  some.over[0].abort()
  await t.throwsAsync(some.calls[0], ABORTED)
  goOn()
  await Promise.all(some.calls.slice(1))
  t.is(flake.source, 'server')
  t.deepEqual([requests, abandoned], [1, 0])

  const all = await attach(2)
  for (const each of all.over) each.abort()
  for (const call of all.calls) await t.throwsAsync(call, ABORTED)
  t.deepEqual([requests, abandoned], [1, 1])
  goOn()
})
