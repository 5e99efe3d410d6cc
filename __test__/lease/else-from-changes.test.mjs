// A member with `elseFrom` that changes between its slot and servers while it runs: its window ends because the store
// is unreachable for it alone, another process takes its slot, a slot becomes free. No waiting call may fail, and no ID
// may come twice. Redis and flakeforge-server are real; between the member and Redis is a proxy that can refuse
// connections.

import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { freshFolder, until } from '../servers/server.mjs'
import { numberOf } from '../support/index.mjs'
import { happens, joinAs, named, record } from '../support/lease.mjs'
import { stopProcess } from '../support/stop-process.mjs'
import { once } from '../support/waits.mjs'

const { TcpProxy } = createRequire(import.meta.url)('../../lab/chaos/faults/tcp-proxy.js')

const EPOCH = 1_000_000
/** `durable`: no quiet period. One slot is for the server. */
const GROUPS = ['away', 'again', 'lost-to-another', 'no-slot', 'dead'].map((group, i) => ({
  group,
  epoch: EPOCH + i,
  slots: 2,
  durable: true,
  ttlMs: 2000,
  skewMs: 100,
  ...(group === 'dead' && { ttlMs: 60_000 }), // its server is stopped, and must keep its slot
}))

if (wantRedis()) {
  let redis
  let server

  test.before(async () => {
    redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always')
    const names = Object.fromEntries(GROUPS.map(({ group: name, ...options }) => [name, options]))
    const config = join(await freshFolder('config'), 'server.json')
    await writeFile(config, JSON.stringify({ names }))
    server = await startServer({ args: ['--store', redis.url, '--config', config] })
  })

  test.after.always(async () => {
    await server?.stop()
    await redis?.stop()
  })

  /** A member behind its own proxy. */
  const joined = async (t, name, elseFrom = server.url) => {
    const proxy = await TcpProxy.open(redis.port)
    t.teardown(() => proxy.close())
    const options = { ...GROUPS.find(({ group }) => group === name), waitMs: 0, elseFrom }
    const flake = await joinAs(t, `redis://127.0.0.1:${proxy.port}`, options)
    return { flake, proxy, options }
  }

  /** IDs by nextAsync() until then; none of the calls may fail. */
  const idsUntil = async (flake, isOver) => {
    const ids = []
    while (!isOver()) {
      ids.push(numberOf(await flake.nextAsync()))
      await sleep(2)
    }
    return ids
  }

  test('a window that ends because the store is unreachable: servers, and the slot again when it is back', async (t) => {
    const { flake, proxy } = await joined(t, 'away')
    t.is(flake.source, 'slot')
    const { slot } = flake
    const before = await idsUntil(flake, () => flake.stats.ids >= 20)
    proxy.refuse()
    const during = await idsUntil(flake, () => flake.stats.fromServers >= 250)
    t.like(flake, { state: 'attached', source: 'server' })
    t.true(flake.expires.getTime() < Date.now())
    t.is(flake.take(3).length, 24)
    proxy.accept()
    const own = flake.stats.ids
    const after = await idsUntil(flake, () => flake.stats.ids >= own + 20)
    t.is(flake.source, 'slot')
    const all = [...before, ...during, ...after]
    t.is(new Set(all).size, all.length)
    t.is(flake.decode(after.at(-1)).id, slot)
    t.not(flake.decode(during.at(-1)).id, slot)
    proxy.refuse()
    const [made, { fromServers }] = [flake.stats.ids, flake.stats]
    const again = await idsUntil(flake, () => flake.stats.fromServers > fromServers)
    t.true(again.at(-1) > after.at(-1), 'IDs left from the first time were dropped')
    t.true(flake.stats.ids > made, 'until its window ended')
  })

  test('attach() after a slot, with the store unreachable: the IDs that servers gave it stay for calls that do not wait', async (t) => {
    const { flake, proxy } = await joined(t, 'again')
    const { slot } = flake
    await flake.detach()
    proxy.refuse()
    await flake.attach()
    t.like(flake, { state: 'detached', source: 'server' })
    t.not(flake.decode(flake.nextBigInt()).id, slot)
  })

  test('a slot that another process takes: servers, until a slot is free', async (t) => {
    const { flake, proxy, options } = await joined(t, 'lost-to-another')
    const told = record(flake)
    const { slot } = flake
    const before = await idsUntil(flake, () => flake.stats.ids >= 20)
    proxy.refuse()
    const other = await holderOf(options) // gets the slot when the window has ended
    t.is(other.slot, slot)
    const lost = happens(flake, 'lost')
    proxy.accept()
    await lost
    t.like(flake, { state: 'detached', slot: undefined, source: 'server' })
    const made = flake.stats.fromServers
    const during = await idsUntil(flake, () => flake.stats.fromServers >= made + 150)
    const attached = happens(flake, 'attached')
    await other.end()
    t.deepEqual(await attached, { group: 'lost-to-another', slot })
    const after = await idsUntil(flake, () => flake.stats.ids >= 20)
    t.is(flake.source, 'slot')
    const all = [...before, ...during, ...after]
    t.is(new Set(all).size, all.length)
    t.deepEqual(
      named(told).filter((name) => !name.startsWith('renew')),
      ['lost', 'attached'],
    )
  })

  /** A process that holds a slot until `end()`: within one process, the node number would still be in use. */
  async function holderOf({ elseFrom, ...options }) {
    const source = `
      import FlakeId from ${JSON.stringify(new URL('../../dist/index.cjs', import.meta.url).href)}
      const flake = await FlakeId.join('${redis.url}', ${JSON.stringify({ ...options, waitMs: 60_000 })})
      console.log(flake.slot)
      process.stdin.on('data', () => {}).on('end', () => flake.close())`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const exit = once(child, 'exit')
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
    const end = () => {
      child.stdin.end()
      return exit
    }
    return { slot: Number(line), end }
  }

  test('a free slot is taken, and IDs continue above those of the server', async (t) => {
    const holder = await joined(t, 'no-slot')
    const { flake } = await joined(t, 'no-slot')
    t.like(flake, { state: 'detached', slot: undefined, source: 'server' })
    const told = record(flake)
    const during = await idsUntil(flake, () => flake.stats.fromServers >= 150)
    const { slot } = holder.flake
    const attached = happens(flake, 'attached')
    await holder.flake.close()
    t.deepEqual(await attached, { group: 'no-slot', slot })
    t.like(flake, { state: 'attached', slot, source: 'slot', id: slot })
    const after = await idsUntil(flake, () => flake.stats.ids >= 20)
    t.is(new Set([...during, ...after]).size, during.length + after.length)
    for (const id of after) t.is(flake.decode(id).id, slot, 'none of the IDs that were fetched before')
    t.deepEqual(named(told).slice(0, 1), ['attached'])
  })

  test.serial(
    'the server ends as well: waiting calls fail with that reason, and when it is back they work',
    async (t) => {
      await joined(t, 'dead') // has the other slot
      const { flake } = await joined(t, 'dead', { urls: server.url, timeoutMs: 2000, waitMs: 0 })
      t.is(flake.source, 'server')
      await flake.nextAsync()
      await stopProcess(server.child.pid)
      t.teardown(() => server.child.kill('SIGCONT'))
      const calls = Array.from({ length: 1800 }, () => flake.nextAsync()) // the first ones get the fetched IDs
      const outcomes = await Promise.allSettled(calls)
      const errors = outcomes.flatMap(({ reason }) => reason ?? [])
      t.true(errors.length >= 1400, String(errors.length))
      t.regex(errors[0].message, /The store: No slot of group 'dead'.* The servers of elseFrom: .*http:/)
      for (const error of errors) t.is(error.code, 'ERR_FLAKE_REMOTE')
      t.true(new Set(errors.map(({ failures }) => failures)).size < 5, 'several in parallel, not one after the other')
      t.throws(() => flake.nextBigInt(), { code: 'ERR_FLAKE_REMOTE' }, 'a call that does not wait fails too')
      server.child.kill('SIGCONT')
      await until(() => flake.nextAsync().catch(() => false)) // right after a failure, calls still fail
      t.is(flake.source, 'server')
    },
  )
} else {
  test('without redis-server there is nothing to lose', (t) => t.pass())
}
