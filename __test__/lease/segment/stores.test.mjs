// SegmentId on each store: blocks of several members and processes, lost counters, skipTo, and unreachable servers. A
// store that is not installed is skipped, loudly.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import anyTest from 'ava'
import { stopAfter } from '../../servers/server.mjs'
import { DATABASES } from '../../stores/databases.mjs'
import { called, jsonOfChild, lease, numberOf, submit, until } from '../../support/index.mjs'
import { range, SegmentId, take } from '../../support/segment.mjs'

function startFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-segment-'))
  return { url: `file:${folder}`, folder, stop: async () => fs.rmSync(folder, { recursive: true, force: true }) }
}

/** A folder, with the interface of a database. */
const FOLDER = {
  isInstalled: () => true,
  start: startFolder,
  urlOf: ({ url }) => url,
  remove: async ({ folder }, name, record) => fs.rmSync(path.join(folder, `.${record}s`, name)),
}

const STORES = { file: FOLDER, ...DATABASES }

const servers = {}

anyTest.after.always(() => Promise.all(Object.values(servers).map(async (server) => (await server).stop())))

/** The server of a store that all its tests share; each has its own counter. */
function serverOf(kind) {
  servers[kind] ??= Promise.resolve(STORES[kind].start())
  return servers[kind]
}

async function opened(t, given, options) {
  const segment = await SegmentId.open(given, options)
  t.teardown(() => segment.close())
  return segment
}

const TOO_MANY = 5000 // IDs: by then a counter should have stopped

/** Uses up the remaining IDs, until a call reports why there are no more: the IDs, and that error. */
async function useUp(segment) {
  const ids = []
  while (ids.length < TOO_MANY) {
    try {
      ids.push(segment.nextBigInt())
    } catch (error) {
      if (error.code !== 'ERR_FLAKE_OVERFLOW') return { ids, error }
      await sleep(10)
    }
  }
  throw new Error(`${TOO_MANY} IDs, and no end`)
}

/** The next ID, as soon as one is available. */
async function resumed(segment) {
  for (;;) {
    const [id] = take(segment, 1)
    if (typeof id === 'bigint') return id
    await sleep(20)
  }
}

for (const [kind, { isInstalled, start, urlOf, remove, crash, identity }] of Object.entries(STORES)) {
  const test = isInstalled() ? anyTest.serial : anyTest.serial.skip
  /** The error for a lost counter. */
  const code = kind === 'file' ? 'ERR_FLAKE_FILE' : 'ERR_FLAKE_STORE'

  test(`${kind}: two members give 0… and 10000…, dense`, async (t) => {
    const url = urlOf(await serverOf(kind))
    const [one, two] = [await opened(t, url, { name: 'two' }), await opened(t, url, { name: 'two' })]
    t.deepEqual(take(one, 100), range(0, 100))
    t.deepEqual(take(two, 100), range(10_000, 100))
    t.is(one.next().toString('hex'), '0000000000000064')
    t.is(numberOf(await called(two)), 10_100n)
  })

  test(`${kind}: several processes at once, thousands of IDs each, none twice`, async (t) => {
    const url = urlOf(await serverOf(kind))
    const source = (block) => `
      const segment = await lease.SegmentId.open(${JSON.stringify(url)}, { name: 'processes', block: ${block} })
      const ids = []
      for (let i = 0; i < 3000; i++) ids.push(String(FlakeId.toBigInt(await segment.nextAsync())))
      await segment.close()
      console.log(JSON.stringify(ids))`
    const all = (await Promise.all([50, 100, 333].map((block) => jsonOfChild(t, source(block))))).flat()
    t.is(all.length, 9000)
    t.is(new Set(all).size, 9000)
    t.true(
      all.every((id) => BigInt(id) < 11_000n),
      'and hardly one skipped',
    )
  })

  test(`${kind}: a missing counter stops all members; skipTo by one applies to all`, async (t) => {
    const server = await serverOf(kind)
    const name = 'gone'
    const one = await opened(t, urlOf(server), { name, block: 100 })
    const two = await opened(t, urlOf(server), { name, block: 100 })
    await remove(server, name, 'counter')
    const given = []
    for (const segment of [one, two]) {
      const { ids, error } = await useUp(segment)
      given.push(...ids)
      t.is(error.code, code)
      t.regex(error.message, /skipTo/)
      await t.throwsAsync(segment.nextAsync(), { code })
    }
    t.deepEqual(given, range(0, 200))
    await one.skipTo(5000)
    t.is(one.nextBigInt(), 5000n)
    t.true((await resumed(two)) > 5000n)
  })

  test(`${kind}: a counter that another process recreated below ours: stopped until skipTo`, async (t) => {
    const server = await serverOf(kind)
    const name = 'anew'
    await (await opened(t, urlOf(server), { name, block: 1000 })).close()
    const one = await opened(t, urlOf(server), { name, block: 100 })
    const two = await opened(t, urlOf(server), { name, block: 100 })
    await remove(server, name, 'counter')
    await opened(t, urlOf(server), { name, block: 100 })
    for (const segment of [one, two]) {
      const { error } = await useUp(segment)
      t.is(error.code, 'ERR_FLAKE_STORE')
      t.regex(error.message, /skipTo/)
    }
    for (const [i, segment] of [one, two].entries()) {
      await segment.skipTo(5000)
      t.is(segment.nextBigInt() >= 5000n + BigInt(i * 100), true)
    }
  })

  if (kind === 'file') continue

  for (const durable of [false, true])
    test(`${kind}: an unreachable server, durable ${durable}: the remaining IDs, then ERR_FLAKE_STORE; calls wait until it is back`, async (t) => {
      const server = stopAfter(t, await start())
      const segment = await opened(t, urlOf(server), { name: 'away', block: 100, durable })
      await crash(server)
      const { ids, error } = await useUp(segment)
      t.deepEqual(ids, range(0, 100))
      t.is(error.code, 'ERR_FLAKE_STORE')
      t.true(error.cause instanceof Error)
      const told = []
      submit(segment, 20, told)
      await sleep(300)
      t.is(told.length, 0)
      await server.start()
      await until(told, 20)
      const mayHaveLost = identity.includes('process') // a restart, as far as a client can see
      if (mayHaveLost && !durable) {
        for (const { error } of told) t.regex(error.message, /skipTo/)
        const later = await SegmentId.open(urlOf(server), { name: 'away', block: 100 })
        t.teardown(() => later.close())
        t.throws(() => later.nextBigInt(), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
        await later.skipTo(1000)
        t.is(later.nextBigInt(), 1000n)
        t.true((await resumed(segment)) > 1000n)
      } else {
        const numbers = told.map(({ id }) => numberOf(id))
        t.is(new Set(numbers).size, 20)
        t.true(numbers.every((id) => id >= 100n))
      }
    })
}

const etcdTest = STORES.etcd.isInstalled() ? anyTest.serial : anyTest.serial.skip

etcdTest('etcd: several members on one store object do not report a loss', async (t) => {
  const store = lease.etcdStore({ endpoints: (await serverOf('etcd')).url })
  const blocks = [100, 100, 1, 7, 1000]
  const members = await Promise.all(blocks.map((block) => opened(t, store, { name: 'one store', block })))
  const ids = await Promise.all(
    members.map(async (segment) => {
      const own = []
      for (let i = 0; i < 300; i++) own.push(numberOf(await segment.nextAsync()))
      return own
    }),
  )
  t.is(new Set(ids.flat()).size, 1500)
})

anyTest('file: an unusable folder is an error of open()', async (t) => {
  const { folder, stop } = startFolder()
  t.teardown(stop)
  fs.writeFileSync(path.join(folder, 'file'), '')
  const call = SegmentId.open(`file:${folder}/file/below`, { name: 'a' })
  await t.throwsAsync(call, { code: 'ERR_FLAKE_FILE', message: /a file, not a folder/ })
})
