// The commands on several stores that are one: the addresses come one by one, as one quoted word, or from FLAKEFORGE_STORE.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { addressesOf, isThere, startAll } from '../stores/quorum.mjs'
import { isRefused, jsonOf, run, textOf } from '../support/command.mjs'
import { FlakeId } from '../support/index.mjs'
import { closeAfter } from '../support/lease.mjs'

const require = createRequire(import.meta.url)
const { howToCreate, howToDestroy } = require('../../target/rooms/lib/lease/how-to-create.js')
const { readJoinOptions } = require('../../target/rooms/lib/lease/join-options.js')

const test = isThere('redis') ? anyTest : anyTest.skip

test('create, slots and destroy on three servers', async (t) => {
  t.timeout(120_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const env = { FLAKEFORGE_STORE: list.join(' ') }
  t.regex(await textOf(t, ['create', ...list, 'orders', '--skew', '100']), /^Created group 'orders'/)
  t.regex(await textOf(t, ['create', list.join(' '), 'orders', '--skew', '100']), /already exists/)
  t.regex(await textOf(t, ['create', 'bills', '--skew', '100'], { env }), /^Created group 'bills'/)
  const flake = await FlakeId.join(list, { group: 'orders', skewMs: 100 })
  closeAfter(t, flake)
  const rows = await jsonOf(t, ['slots', ...list, '--group', 'orders'].concat('--json'))
  t.deepEqual(
    rows.filter(({ slot }) => slot !== undefined).map(({ slot }) => slot),
    [flake.slot],
  )
  const stores = rows.filter(({ store }) => store !== undefined)
  t.deepEqual(
    stores.map(({ store }) => store),
    list,
  )
  t.true(stores.every(({ state }) => state === 'votes' || state === 'behind'))
  t.true(stores.every(({ aheadMs }) => Math.abs(aheadMs) < 1000))

  await servers[1].kill()
  const { code, stdout } = await run(['slots', '--group', 'orders'], { env })
  t.is(code, 0)
  const lines = stdout.split('\n').filter((line) => line.startsWith('orders'))
  const stateOf = (address) => lines.find((line) => line.includes(address))
  t.regex(stateOf(list[0]), /takes part/)
  t.regex(stateOf(list[1]), /does not answer: .*ECONNREFUSED/)
  t.regex((await run(['destroy', ...list, 'bills', '--yes'])).stdout, /^Destroyed group 'bills'/)
})

test('the order of words, and lists of other lengths', async (t) => {
  await isRefused(t, ['create', 'shop', 'redis://a', 'redis://b', 'redis://c'], /The store comes first/)
  await isRefused(t, ['create', 'redis://a', 'redis://b', 'shop'], /must have 3 or 5 stores, but has 2/)
  await isRefused(
    t,
    ['slots', 'redis://a', 'redis://b', 'redis://c', 'redis://d'],
    /must have 3 or 5 stores, but has 4/,
  )
  await isRefused(
    t,
    ['slots', 'redis://a', 'redis://b', 'redis://c', 'shop'],
    /takes one DIR or URL, or three or five URLs/,
  )
  await isRefused(t, ['destroy', 'redis://a', 'redis://b', 'redis://c'], /destroy takes/)
})

anyTest('the command that a warning shows has the addresses one by one, without passwords', (t) => {
  const options = readJoinOptions({ group: 'orders' })
  const list = ['redis://me:s3cret@a', 'redis://b', 'redis://c']
  const shown = 'redis://…@a redis://b redis://c'
  for (const given of [list, list.join(' ')]) {
    const command = howToCreate(given, options).replaceAll("'", '')
    t.is(command, `npx flakeforge create ${shown} orders`)
    t.is(howToDestroy(given, options).replaceAll("'", ''), `npx flakeforge destroy ${shown} orders --yes`)
  }
})
