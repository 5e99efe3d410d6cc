// Which lists of stores are accepted, and which servers may answer under them (rule Q1): another list, one server twice, and
// exchanged addresses are refused, because each would let two majorities exist that share no server.

import anyTest from 'ava'
import { FlakeId, lease } from '../support/index.mjs'
import { tryJoin } from '../support/lease.mjs'
import { addressesOf, GROUP, isThere, members, startAll } from './quorum.mjs'

const { openStore, quorumStore, recordStore } = lease
const OPTION = { code: 'ERR_FLAKE_OPTION' }
const MISMATCH = { code: 'ERR_FLAKE_CONFIG_MISMATCH' }
const test = isThere('redis') ? anyTest.serial : anyTest.skip

const own = { read: async () => ({}), swap: async () => false, names: async () => [] }

/** Lists that are refused before anything is opened, and what the error says. */
const REFUSED = {
  'no store': [[], /must have 3 or 5 stores, but has 0/],
  'a single one': [['redis://a'], /has 1\. Pass a single store itself/],
  two: [['redis://a', 'redis://b'], /has 2\. Of 3 stores one may fail/],
  four: [['redis://a', 'redis://b', 'redis://c', 'redis://d'], /has 4\./],
  'one twice': [['redis://a', 'redis://b', 'redis://a'], /has 'redis:\/\/a' twice/],
  'one twice, with another user': [['redis://a', 'redis://b', 'redis://me:s3cret@a'], /has 'redis:\/\/a' twice/],
  'a folder': [['redis://a', 'redis://b', 'file:/var/lib/ids'], /stores\[2\] must be the address of a server/],
}

for (const [what, [list, message]] of Object.entries(REFUSED)) {
  anyTest(`a list with ${what} is refused`, async (t) => {
    t.throws(() => quorumStore(list), { ...OPTION, message })
    await t.throwsAsync(FlakeId.join(list), { ...OPTION, message })
    t.throws(() => openStore(list), { ...OPTION, message })
    if (list.length > 1) t.throws(() => openStore(list.join(' ')), { ...OPTION, message })
  })
}

anyTest('what is no list, no store or no label is refused', async (t) => {
  const three = ['redis://a', 'redis://b']
  for (const [stores, options, message] of [
    ['redis://a', undefined, /stores must be an array/],
    [[...three, 7], undefined, /labels\[2\]/],
    [[...three, 7], { labels: [undefined, undefined, 'c'] }, /stores\[2\] must be/],
    [[...three, own], undefined, /labels\[2\] must be a name .* this store has no address/],
    [[...three, 'redis://c'], { labels: 'abc' }, /labels must be an array/],
    [[...three, 'redis://c'], { labels: ['a', 'b', 'c d'] }, /labels\[2\]/],
    [[...three, 'redis://c'], { labels: ['a', 'b', ''] }, /labels\[2\]/],
    [[...three, 'redis://c'], { labels: ['a', 'b', 'a'] }, /has 'a' twice/],
    [[...three, 'redis://c'], { lables: [] }, /lables/],
    [[...three, {}], { labels: ['a', 'b', 'c'] }, /stores\[2\]/],
  ])
    t.throws(() => quorumStore(stores, options), { ...OPTION, message })
  const store = recordStore(own)
  await t.throwsAsync(FlakeId.join([...three, store]), {
    ...OPTION,
    message: /stores\[2\] must be an address; pass .* quorumStore/,
  })
})

anyTest('a list with commas or in quotes is refused with the correct form', async (t) => {
  const secret = 'hunter2hunter2'
  for (const separator of [',', ', ', ';', ' ; ']) {
    for (const user of ['', `me:${secret}@`]) {
      const text = ['a', 'b', 'c'].map((host) => `redis://${user}${host}`).join(separator)
      const error = t.throws(() => openStore(text), { ...OPTION, message: /with spaces between them and no commas/ })
      t.false(error.message.includes(secret), error.message)
    }
  }
  for (const quote of ['"', "'"]) {
    const text = `${quote}redis://a redis://b redis://c${quote}`
    t.throws(() => openStore(text), { ...OPTION, message: /stores\[0\] must be the address .* without quotes/ })
  }
})

anyTest('no error about a list shows a password', async (t) => {
  const secret = 'hunter2hunter2'
  for (const list of [
    [`redis://me:${secret}@a`, 'redis://b'],
    [`redis://me:${secret}@a`, 'redis://b', `redis://you:${secret}@a`],
    [`redis://me:${secret}@a`, 'redis://b', 'nonsense://c'],
    [`redis://me:${secret}@127.0.0.1:1`, 'redis://127.0.0.1:2', 'redis://127.0.0.1:3'],
  ]) {
    for (const given of [list, list.join(' ')]) {
      const error = await t.throwsAsync(FlakeId.join(given, { waitMs: 0 }))
      t.false(JSON.stringify([error.message, error.value, error.stack]).includes(secret), error.message)
    }
  }
})

test('all members name the same stores, in any order', async (t) => {
  const servers = await startAll(t, 'redis', 'redis', 'redis', 'redis')
  const [a, b, c, other] = addressesOf(servers)
  const { options } = await members(t, [a, b, c], 1)
  t.regex(await tryJoin([c, a, b], options), /joined/)
  const error = await t.throwsAsync(tryJoin([a, b, other], options), MISMATCH)
  for (const address of [c, other]) t.true(error.message.includes(address), error.message)
  t.deepEqual([error.theirs, error.ours], [[a, b, c].sort().join(' '), [a, b, other].sort().join(' ')])
  await t.throwsAsync(FlakeId.createGroup([b, c, other], options), MISMATCH)
})

test('one server under two labels is refused, whoever comes first', async (t) => {
  const servers = await startAll(t, 'redis', 'redis')
  const [a, b] = addressesOf(servers)
  const twice = [a, b, b.replace('127.0.0.1', 'localhost')]
  const options = { ...GROUP, group: 'twice' }
  for (let i = 0; i < 2; i++) {
    const error = await t.throwsAsync(FlakeId.createGroup(twice, options), MISMATCH)
    t.regex(error.message, /two addresses of the list lead to one server/)
  }
  await t.throwsAsync(tryJoin(twice, options), MISMATCH)
})

test('two exchanged addresses are refused', async (t) => {
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const labels = ['a', 'b', 'c']
  const store = quorumStore(list, { labels })
  t.teardown(() => store.close())
  const { options } = await members(t, store, 1)
  const exchanged = quorumStore([list[1], list[0], list[2]], { labels })
  t.teardown(() => exchanged.close())
  const error = await t.throwsAsync(tryJoin(exchanged, options), MISMATCH)
  t.true(['a', 'b'].includes(error.theirs) && ['a', 'b'].includes(error.ours))
})

test('a list of three cannot join a group that is on one of its servers alone', async (t) => {
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const { options } = await members(t, list[0], 1)
  const error = await t.throwsAsync(tryJoin(list, options))
  t.true(['ERR_FLAKE_RECORD', 'ERR_FLAKE_CONFIG_MISMATCH'].includes(error.code), error.message)
})
