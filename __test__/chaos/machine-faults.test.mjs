// What chaos does to the machine of a server: it is paused, isolated from the other machines, or both, until it is
// healed.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { startRedisOn, wantRedis } from '../servers/redis.mjs'
import { freePort, stopAfter, until } from '../servers/server.mjs'

const require = createRequire(import.meta.url)
const { someOf } = require('../../lab/chaos/faults/fault.js')
const { endFault, ...FAULTS } = require('../../lab/chaos/faults/machine-faults.js')
const { openNetwork } = require('../../lab/chaos/faults/network.js')

const canRun = wantRedis() && process.platform === 'linux'
const test = canRun ? anyTest.serial : anyTest.skip

/** A stopped process is in state T. */
const isFrozen = ({ pid }) => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

async function reaches(machine, { host, port }) {
  const [program, ...args] = machine.inside(['redis-cli', '-h', host, '-p', String(port), 'PING'])
  const { stdout } = await promisify(execFile)(program, args).catch(({ stdout }) => ({ stdout }))
  return stdout.trim() === 'PONG'
}

/** Two machines with a server each, and the state of the first one. */
async function startTwo(t) {
  const network = await openNetwork(2)
  t.teardown(() => network.close())
  if (network.kind !== 'namespaces') return
  const [first, second] = network.machines
  const [port, otherPort] = [await freePort(), await freePort()]
  const server = stopAfter(t, await startRedisOn(first, port, []))
  stopAfter(t, await startRedisOn(second, otherPort, []))
  const other = { host: second.host, port: otherPort }
  const state = async () => ({ frozen: isFrozen(server), cut: !(await reaches(first, other)) })
  return { place: { machine: first, server }, state }
}

const WELL = { frozen: false, cut: false }

for (const [name, during] of [
  ['SPLIT', { frozen: false, cut: true }],
  ['FROZEN', { frozen: true, cut: false }],
  ['FROZEN_THEN_CUT', { frozen: true, cut: true }],
  ['CUT_THEN_FROZEN', { frozen: true, cut: true }],
]) {
  test(`${name}: its effect on a machine, and its end`, async (t) => {
    const two = await startTwo(t)
    if (two === undefined) return t.log('SKIPPED: no network namespaces') || t.pass()
    const { place, state } = two
    const fault = FAULTS[name]
    t.deepEqual(await state(), WELL)
    await fault.harm(place)
    await until(async () => (await state()).frozen === during.frozen) // the kernel stops each thread separately
    t.deepEqual(await state(), during)
    if (fault.wake !== undefined) {
      await fault.wake(place)
      await until(() => !isFrozen(place.server))
      t.deepEqual(await state(), { frozen: false, cut: true }, 'running, and still isolated')
    }
    await endFault(place, fault, { awayMs: 0, awakeMs: 0 })
    await until(() => !isFrozen(place.server))
    t.deepEqual(await state(), WELL)
    t.is(await place.server.cli('PING'), 'PONG')
  })
}

anyTest('both sides of a split have at least one member', (t) => {
  for (let round = 0; round < 500; round++) {
    const count = someOf([1, 2, 3]).length
    t.true(count > 0 && count < 3)
  }
})
