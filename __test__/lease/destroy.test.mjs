// destroy(): who notices it when, and that ERR_FLAKE_DESTROYED is the first error. What stores do with it is in
// ../stores/behaviour/leases.mjs.

import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import test from 'ava'
import { freshFolder } from '../servers/server.mjs'
import { root } from '../support/guides.mjs'
import { allRefuse, happens, joinAs, leaseOptions } from '../support/lease.mjs'
import { MemoryStore } from '../support/store.mjs'
import { limited, once } from '../support/waits.mjs'

const DESTROYED = 'ERR_FLAKE_DESTROYED'

test('members of the same process stop at once, whatever their ttl', async (t) => {
  const store = new MemoryStore()
  const options = leaseOptions({ ttlMs: 60_000 }) // its next renewal is 20 s away
  const [one, two] = [await joinAs(t, store, options), await joinAs(t, store, options)]
  const other = await joinAs(t, store, leaseOptions({ group: 'other', ttlMs: 60_000 }))
  const told = happens(two, 'destroyed')
  await one.destroy()
  await told
  t.is(two.state, 'destroyed')
  await allRefuse(t, two, DESTROYED)
  t.is(other.state, 'attached')
  t.is(
    store.calls.filter(([step, group]) => step === 'renew' && group === 'other').length,
    0,
    'nothing was asked for it',
  )
})

/** Joins, tells when it makes IDs, and then what happens. `busy`: it makes IDs all the time. */
const MEMBER = `
const FlakeId = require('flakeforge')
const [store, options, busy] = process.argv.slice(1)
const tell = (what) => console.log(JSON.stringify({ at: Date.now(), ...what }))
FlakeId.join(store, JSON.parse(options)).then((flake) => {
  flake.on('destroyed', () => tell({ event: 'destroyed', state: flake.state }))
  flake.nextBigInt()
  tell({ event: 'joined' })
  const alive = setInterval(() => {
    if (flake.state === 'destroyed') clearInterval(alive)
    if (busy !== 'busy') return
    try {
      flake.nextBigInt()
    } catch (error) {
      tell({ event: 'error', code: error.code })
      clearInterval(alive)
    }
  }, 1)
})
`

for (const kind of ['busy', 'idle']) {
  test(`in a folder, a ${kind} member in another process stops within 250 ms, and says why`, async (t) => {
    const folder = await freshFolder('destroy')
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    const [store, options] = [`file:${folder}`, leaseOptions({ ttlMs: 60_000 })]
    const child = spawn(process.execPath, ['-e', MEMBER, store, JSON.stringify(options), kind], { cwd: root })
    t.teardown(() => child.kill('SIGKILL'))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async () => JSON.parse((await limited(lines.next(), () => 'a line of the member')).value)
    t.is((await next()).event, 'joined')
    const one = await joinAs(t, store, options)
    await one.destroy()
    const destroyed = Date.now()
    const told = [await next(), ...(kind === 'busy' ? [await next()] : [])]
    for (const { event, at, code, state } of told) {
      if (event === 'error') t.is(code, DESTROYED)
      else t.like({ event, state }, { event: 'destroyed', state: 'destroyed' })
      t.true(at - destroyed < 1000, `${at - destroyed} ms`) // 250 ms, and a busy machine
      t.log(`${event} after ${at - destroyed} ms`)
    }
    const [status] = await once(child, 'exit')
    t.is(status, 0)
  })
}

test('in a folder, no call gets another error first, also if it comes with the renewal', async (t) => {
  const folder = await freshFolder('destroy')
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const [store, options] = [`file:${folder}`, leaseOptions()]
  const [one, two] = [await joinAs(t, store, options), await joinAs(t, store, options)]
  const codes = []
  const asking = setInterval(() => {
    try {
      two.nextBigInt()
    } catch (error) {
      codes.push(error.code)
    }
  }, 1)
  await one.destroy()
  await allRefuse(t, two, DESTROYED)
  await new Promise((resolve) => setTimeout(resolve, 1500)) // past the next renewal
  clearInterval(asking)
  t.true(codes.length > 0)
  t.deepEqual([...new Set(codes)], [DESTROYED])
})
