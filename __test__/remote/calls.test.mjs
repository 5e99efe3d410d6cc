// The calls of RemoteFlakeId on a flakeforge-server: each form of an ID, waiting and not, and no ID twice.

import { inspect } from 'node:util'
import test from 'ava'
import { RemoteFlakeId } from 'flakeforge/remote'
import { startServer } from '../servers/flakeforge.mjs'
import { FlakeId } from '../support/index.mjs'
import { connect, hang, idsIn, startScripted, turns } from './scripted-server.mjs'

const { format } = FlakeId
let server

test.before(async () => {
  server = await startServer({ args: ['--name', 'orders', '--layout', 'hazelcast'] })
})
test.after.always(() => server?.stop())

test('every call gives IDs of the server, and none twice', async (t) => {
  const remote = await connect(t, server, { prefetch: 1000 })
  const ids = [remote.nextBigInt(), ...idsIn(remote.next()), ...idsIn(remote.take(5)), BigInt(remote.nextString())]
  ids.push(...idsIn(await remote.nextAsync()), ...idsIn(await remote.takeAsync(3)))
  for await (const id of remote) {
    ids.push(...idsIn(id))
    if (ids.length === 20) break
  }
  t.deepEqual(
    ids,
    [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)),
    'in order, and all different',
  )
  const layout = new FlakeId.Layout('hazelcast')
  for (const id of ids) t.true(Math.abs(layout.decode(id).timestamp - Date.now()) < 60_000)
  t.like(remote.stats, { ids: 20, dropped: 0, retries: 0, buffered: 980 })
})

test('an ID has its own memory, and is a Buffer here', async (t) => {
  const remote = await connect(t, server)
  for (const id of [remote.next(), remote.take(1), await remote.nextAsync(), await remote.takeAsync(1)]) {
    t.true(Buffer.isBuffer(id))
    t.is(id.buffer.byteLength, 8)
  }
})

test('text in every base equals the output of format() for the same ID', async (t) => {
  const scripted = await startScripted(t)
  const remote = await connect(t, scripted)
  for (const base of [undefined, 'dec', 'hex', 'bin', 'oct', 'base32', 'base36', 'base58', 'base62', 'tid']) {
    const before = remote.nextBigInt()
    t.is(remote.nextString(base), format(before + 1n, base))
  }
  const { ids } = remote.stats
  const error = t.throws(() => remote.nextString('base64'), { instanceOf: RangeError, code: 'ERR_FLAKE_OPTION' })
  t.regex(error.message, /base32.*base62/)
  t.is(remote.stats.ids, ids, 'an unknown base takes no ID')
})

test('callbacks and promises settle in one order', async (t) => {
  const remote = await connect(t, await startScripted(t), { prefetch: 4 })
  const told = []
  const promises = []
  for (let i = 0; i < 12; i += 3) {
    remote.next(() => told.push(i))
    promises.push(remote.nextAsync().then(() => told.push(i + 1)))
    promises.push(remote.takeAsync(2, { signal: new AbortController().signal }).then(() => told.push(i + 2)))
  }
  await Promise.all(promises)
  t.deepEqual(
    told,
    Array.from({ length: 12 }, (_, i) => i),
  )
})

test('when no IDs are left: ERR_FLAKE_OVERFLOW, and more are on their way', async (t) => {
  const remote = await connect(t, server, { prefetch: 3 })
  remote.take(3)
  for (const call of [
    () => remote.next(),
    () => remote.nextBigInt(),
    () => remote.nextString(),
    () => remote.take(2),
  ]) {
    const error = t.throws(call, { instanceOf: Error, code: 'ERR_FLAKE_OVERFLOW' })
    t.true(Number.isInteger(error.retryAfterMs) && error.retryAfterMs >= 1)
    t.regex(error.message, /'orders'.*0 are available.*nextAsync/s)
    t.is(error.cause, undefined)
  }
  await turns(() => remote.stats.buffered > 0)
  remote.nextBigInt()
})

test('take() gives all or nothing, and fetches what was missing', async (t) => {
  const remote = await connect(t, server, { prefetch: 10 })
  t.throws(() => remote.take(12_345), { code: 'ERR_FLAKE_OVERFLOW', message: /12345 IDs .* only 10 are available/ })
  t.is(remote.stats.ids, 0)
  await turns(() => remote.stats.buffered >= 12_345)
  const ids = idsIn(remote.take(12_345))
  t.is(new Set(ids).size, 12_345)
  t.is(remote.take(0).length, 0)
})

test('takeAsync() of more than 10 000 makes several requests, one after the other', async (t) => {
  const scripted = await startScripted(t)
  const remote = await connect(t, scripted)
  const ids = idsIn(await remote.takeAsync(35_000))
  t.is(new Set(ids).size, 35_000)
  t.is(scripted.most, 1)
  t.true(Math.max(...scripted.counts) <= 10_000)
  t.is(scripted.counts.length, 5, String(scripted.counts))
  t.is((await remote.takeAsync(0)).length, 0)
})

test('an invalid count is rejected', async (t) => {
  const remote = await connect(t, server)
  for (const [n, Type] of [
    [-1, RangeError],
    [1.5, RangeError],
    [10_000_001, RangeError],
    ['5', TypeError],
    [undefined, TypeError],
  ]) {
    t.throws(() => remote.take(n), { instanceOf: Type, code: 'ERR_FLAKE_OPTION' })
    await t.throwsAsync(remote.takeAsync(n), { instanceOf: Type, code: 'ERR_FLAKE_OPTION' })
  }
  t.throws(() => remote.next(5), { instanceOf: TypeError, code: 'ERR_FLAKE_OPTION', message: /callback/ })
  t.is(remote.stats.ids, 0)
})

test('a signal ends a call, which takes no ID, and an iteration', async (t) => {
  const scripted = await startScripted(t)
  const remote = await connect(t, scripted, { prefetch: 2 })
  await t.throwsAsync(remote.nextAsync({ signal: AbortSignal.abort(new Error('before')) }), { message: 'before' })
  const { signal } = new AbortController()
  await t.throwsAsync(remote.nextAsync(undefined, { signal }), { code: 'ERR_FLAKE_OPTION' }, 'not the first argument')
  await t.throwsAsync(remote.takeAsync(1, undefined, { signal }), { code: 'ERR_FLAKE_OPTION' })
  t.is(remote.stats.ids, 0)
  scripted.script = hang
  const controller = new AbortController()
  const [one, many] = [
    remote.takeAsync(5, { signal: controller.signal }),
    remote.nextAsync({ signal: controller.signal }),
  ]
  const stays = remote.nextAsync()
  const loop = (async () => {
    let count = 0
    for await (const _id of remote.ids({ signal: controller.signal })) count++
    return count
  })()
  await scripted.asked(2)
  scripted.script = undefined
  controller.abort(new Error('enough'))
  await t.throwsAsync(one, { message: 'enough' })
  await t.throwsAsync(many, { message: 'enough' })
  t.is(await loop, 0)
  t.is(remote.stats.dropped, 2, 'those that the first call had already')
  await remote.close()
  await t.throwsAsync(stays, { code: 'ERR_FLAKE_DETACHED' })
  t.throws(() => remote.ids({ singal: 1 }), { code: 'ERR_FLAKE_OPTION', message: /Did you mean 'signal'/ })
})

test('closed: the remaining IDs are dropped, and calls get ERR_FLAKE_DETACHED, including waiting ones', async (t) => {
  const scripted = await startScripted(t)
  const remote = await connect(t, scripted)
  scripted.script = hang
  const waiting = remote.takeAsync(101)
  const told = new Promise((resolve) => remote.next((...result) => resolve(result)))
  await scripted.asked(2)
  await remote.close()
  const closed = { instanceOf: Error, code: 'ERR_FLAKE_DETACHED', message: /'orders' is closed.*connect/ }
  await t.throwsAsync(waiting, closed)
  const [error, id] = await told
  t.is(error.code, 'ERR_FLAKE_DETACHED')
  t.is(id, undefined)
  for (const call of [() => remote.next(), () => remote.nextBigInt(), () => remote.nextString(), () => remote.take(1)])
    t.throws(call, closed)
  await t.throwsAsync(remote.nextAsync(), closed)
  await t.throwsAsync(remote.takeAsync(1), closed)
  await t.throwsAsync(remote[Symbol.asyncIterator]().next(), closed)
  t.like(remote.stats, { ids: 0, dropped: 100, buffered: 0 })
  await remote.close()
})

test('closed while an answer is being read: none of its IDs is handed out', async (t) => {
  const server = await startScripted(t)
  for (let steps = 0; steps < 25; steps++) {
    let remote
    const close = async () => {
      for (let i = 0; i < steps; i++) await null
      await remote.close()
    }
    const fetch = async (...args) => {
      const { status, headers, body } = await globalThis.fetch(...args)
      const get = (name) => {
        if (remote !== undefined && name === 'flakeforge-layout') close() // it checks when it has read everything
        return headers.get(name)
      }
      return { status, headers: { get }, body }
    }
    remote = await connect(t, server, { fetch })
    await remote.takeAsync(150).catch(({ code }) => t.is(code, 'ERR_FLAKE_DETACHED'))
    for (let i = 0; i < 50; i++) await null
    t.is(remote.stats.buffered, 0)
    t.throws(() => remote.nextBigInt(), { code: 'ERR_FLAKE_DETACHED' })
  }
})

test('await using closes it', async (t) => {
  const remote = await connect(t, await startScripted(t))
  remote.nextBigInt()
  const closing = remote[Symbol.asyncDispose]()
  t.throws(() => remote.nextBigInt(), { code: 'ERR_FLAKE_DETACHED' }, 'in the same turn')
  await closing
  t.throws(() => remote.next(), { code: 'ERR_FLAKE_DETACHED' })
})

test('console.log shows its name and counts, and only connect() creates instances', async (t) => {
  const remote = await connect(t, server, { token: 'a-token-that-is-secret' })
  t.regex(inspect(remote), /^RemoteFlakeId \{.*name: 'orders'.*buffered: 100/s)
  t.notRegex(inspect(remote, { showHidden: true, depth: 9 }), /secret/)
  t.throws(() => new RemoteFlakeId('http://localhost'), { code: 'ERR_FLAKE_OPTION', message: /connect/ })
})

test('numbers: of IDs below 2^53, and of others an error that takes none', async (t) => {
  const [safe, wide] = await Promise.all([startScripted(t), startScripted(t)])
  let next = 2n ** 53n - 4n
  safe.script = (_request, response, n) => {
    const bytes = Buffer.alloc(n * 8)
    for (let i = 0; i < n; i++) bytes.writeBigUInt64BE(next++, i * 8)
    response.setHeader('content-type', 'application/octet-stream').end(bytes)
  }
  const remote = await connect(t, safe, { prefetch: 4 })
  t.is(remote.nextNumber(), Number.MAX_SAFE_INTEGER - 3)
  t.deepEqual(
    remote.takeNumbers(3),
    Float64Array.from([-2, -1, 0], (less) => Number.MAX_SAFE_INTEGER + less),
  )
  t.is(remote.takeNumbers(0).length, 0)
  t.throws(() => remote.nextNumber(), { code: 'ERR_FLAKE_OVERFLOW' })
  await turns(() => remote.stats.buffered > 0)
  const { ids } = remote.stats
  const refusal = {
    instanceOf: RangeError,
    code: 'ERR_FLAKE_OPTION',
    message: /'orders' .* 2\^53 − 1.*nextBigInt.*safe/s,
  }
  t.throws(() => remote.nextNumber(), refusal)
  t.throws(() => remote.takeNumbers(1), refusal)
  t.is(remote.stats.ids, ids)
  t.is(remote.nextBigInt(), 2n ** 53n)
  const other = await connect(t, wide)
  t.throws(() => other.nextNumber(), refusal)
})

test('numbers: of a real server with layout safe', async (t) => {
  const numbers = await startServer({ args: ['--name', 'numbers', '--layout', 'safe'] })
  t.teardown(() => numbers.stop())
  const remote = await connect(t, numbers, { name: 'numbers' })
  const layout = new FlakeId.Layout('safe')
  const [one, ...others] = [remote.nextNumber(), ...remote.takeNumbers(5)]
  t.true(others.every((id, i) => id > [one, ...others][i] && Number.isSafeInteger(id)))
  t.true(Math.abs(layout.decode(one).timestamp - Date.now()) < 60_000)
})
