// What chaos slows down is slow for as long as intended: the links between machines, and the disk of a process.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { startEtcd, wantEtcd } from '../servers/etcd.mjs'
import { startRedisOn, wantRedis } from '../servers/redis.mjs'
import { freePort, until, wantProgram } from '../servers/server.mjs'

const require = createRequire(import.meta.url)
const { openNetwork } = require('../../lab/chaos/faults/network.js')
const { slowDisk } = require('../../lab/chaos/faults/slow-disk.js')

const LONG_MS = 200
const VALUE = 'x'.repeat(10_000) // more than a narrow link accepts at once

async function timeOf(task) {
  const begun = performance.now()
  await task()
  return performance.now() - begun
}

const testIf = (isPossible) => (isPossible ? anyTest.serial : anyTest.skip)

testIf(wantRedis())('messages between machines are late until links are fast again', async (t) => {
  const network = await openNetwork(2)
  const [slow, other] = network.machines
  t.teardown(() => network.close())
  if (network.kind !== 'namespaces') return t.pass('proxies only delay their traffic')
  const redis = await startRedisOn(other, await freePort(), [])
  t.teardown(() => redis.stop())
  const send = () => timeOf(() => redis.cli('SET', 'key', VALUE))
  await until(async () => (await send()) < LONG_MS)
  await slow.slowDown()
  t.true((await send()) > LONG_MS)
  await slow.speedUp()
  await until(async () => (await send()) < LONG_MS)
})

testIf(wantEtcd() && wantProgram('strace'))('each sync of a process takes as long as requested', async (t) => {
  const etcd = await startEtcd()
  t.teardown(() => etcd.stop())
  const put = () => timeOf(() => etcd.ctl('put', 'key', 'value'))
  await until(async () => (await put()) < LONG_MS)
  const heal = await slowDisk(etcd.pid, LONG_MS)
  t.true((await put()) > LONG_MS)
  await heal()
  await until(async () => (await put()) < LONG_MS)
  await t.throwsAsync(slowDisk(2 ** 22, LONG_MS), { message: /^no disk is slow: .*No such process/ })
})
