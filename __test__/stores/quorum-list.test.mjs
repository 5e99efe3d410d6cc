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
  two: [['redis://a', 'redis://b'], /has 2\. Three stores survive the loss of one/],
  four: [['redis://a', 'redis://b', 'redis://c', 'redis://d'], /has 4\./],
  'one twice': [['redis://a', 'redis://b', 'redis://a'], /has 'redis:\/\/a' twice/],
  'one twice, with another user': [['redis://a', 'redis://b', 'redis://me:s3cret@a'], /has 'redis:\/\/a' twice/],
  'one twice, in capitals': [['redis://a', 'redis://b', 'REDIS://A'], /has 'redis:\/\/a' twice/],
  'two databases of one server': [
    ['redis://a/1', 'redis://b', 'rediss://a:6379/2'],
    /'redis:\/\/a\/1' and .* are one server/,
  ],
  'two names of a scheme': [['postgres://a/x', 'postgres://b/x', 'postgresql://a/y'], /are one server/],
  'one IPv6 address, with its port': [['redis://[::1]', 'redis://b', 'redis://[::1]:6379'], /are one server/],
  'a folder': [
    ['redis://a', 'redis://b', 'file:/var/lib/ids'],
    /stores\[2\] must be the address of one server \(not a folder\)/,
  ],
  'a path': [['redis://a', 'redis://b', '/var/lib/ids'], /stores\[2\] must be the address of one server/],
  'a host without a scheme': [['redis://a', 'redis://b', 'c:3'], /stores\[2\] must be the address .* but is 'c:3'/],
  'two such hosts': [['redis://a', 'b:1', 'c:2'], /stores\[1\] must be the address .* but is 'b:1'/],
  'no host': [['redis://a', 'redis://b', 'redis://'], /stores\[2\] must be the address/],
  'another scheme': [['redis://a', 'redis://b', 'reddis://c'], /Did you mean 'redis:\/\/…'\?/],
  'an invisible character': [
    ['redis://a', 'redis://b', 'redis://c\u200b'],
    /stores\[2\] must .* but is 'redis:\/\/c\\u\{200b\}'/,
  ],
  'a bad port': [['redis://a', 'redis://b', 'redis://c:99999'], /must be a valid address/],
  'an IPv6 address without brackets': [['redis://a', 'redis://b', 'redis://::1'], /with an IPv6 address in brackets/],
  'a % in a password': [['redis://me:100%@a', 'redis://b', 'redis://c'], /% as %25/],
  'a # in a password': [['redis://me:s#cret@a', 'redis://b', 'redis://c'], /# as %23/],
  'several hosts of one Redis': [['redis://a', 'redis://b', 'redis://c,d'], /must be like redis:\/\//],
  'several hosts of one MySQL': [['redis://a', 'redis://b', 'mysql://c,d/ids'], /the address of one server/],
}

/** What several addresses may have between and around them, as in files of environment variables. */
const SPACES = {
  'tabs and newlines': 'redis://127.0.0.1:1\t\tredis://127.0.0.1:2\r\nredis://127.0.0.1:3\n',
  'spaces around': '  redis://127.0.0.1:1   redis://127.0.0.1:2 redis://127.0.0.1:3  ',
  'a space in a password': 'redis://me:two words@127.0.0.1:1 redis://127.0.0.1:2 redis://127.0.0.1:3',
}

for (const [what, text] of Object.entries(SPACES))
  anyTest(`a list with ${what} is read`, async (t) => {
    const store = openStore(text)
    t.deepEqual(
      (await store.storeStates('ids')).map(({ store }) => store),
      ['redis://127.0.0.1:1', 'redis://127.0.0.1:2', 'redis://127.0.0.1:3'],
    )
    await store.close()
  })

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
    [[...three, 7], undefined, /stores\[2\] must be/],
    [[...three, 7], { labels: [undefined, undefined, 'c'] }, /stores\[2\] must be/],
    [[...three, own], undefined, /labels\[2\] must be a name .* this store has no address/],
    [[...three, 'redis://c'], { labels: 'abc' }, /labels must be an array/],
    [[...three, 'redis://c'], { labels: ['a', 'b', 'c d'] }, /labels\[2\]/],
    [[...three, 'redis://c'], { labels: ['a', 'b', ''] }, /labels\[2\]/],
    [[...three, 'redis://c'], { labels: ['a', 'b', 'a'] }, /has 'a' twice/],
    [[...three, 'redis://c'], { labels: ['a', 'b', 'c\u200b'] }, /labels\[2\] .*\\u\{200b\}/],
    [[...three, 'redis://c'], { labels: ['a', 'b', 'é'.repeat(65)] }, /labels\[2\] must be a name of 1 to 128 bytes/],
    [[...three, 'redis://c'], { labels: ['a', 'b', 'c', 'd'] }, /labels must be an array of at most 3 names/],
    [[...three, 'redis://c'], { lables: [] }, /lables/],
    [[...three, 'redis://b'], { labels: ['a', 'b', 'c'] }, /has 'b' and 'c', which are one server/],
    [[own, { ...own }, own], { labels: ['a', 'b', 'c'] }, /has 'a' and 'c', which are one server/],
    [[...three, {}], { labels: ['a', 'b', 'c'] }, /stores\[2\]/],
    [[...three, undefined], undefined, /stores\[2\] must be/],
    [Object.assign(Array(3), { 0: 'redis://a', 2: 'redis://b' }), undefined, /stores\[1\] must be/],
    [[...three, new URL('redis://c')], undefined, /stores\[2\] must be .* class URL/],
    [[...three, ['redis://c']], undefined, /stores\[2\] must be/],
    [['redis://a redis://b', ...three], undefined, /stores\[0\] must be the address of one server/],
  ])
    t.throws(() => quorumStore(stores, options), { ...OPTION, message })
  for (const list of [quorumStore(['redis://c', 'redis://d', 'redis://e']), openStore('redis://c redis://d redis://e')])
    t.throws(() => quorumStore([...three, list], { labels: ['a', 'b', 'c'] }), {
      ...OPTION,
      message: /stores\[2\] must be a single store: a list cannot be in a list/,
    })
  t.notThrows(() => quorumStore([...three, own], { labels: [null, undefined, 'c'] }))
  t.notThrows(() => quorumStore([...three, 'redis://c'], { labels: null }))
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
  const list = ['redis://a', 'redis://b', 'redis://c']
  for (const text of [
    ...['"', "'", '`'].map((quote) => `${quote}${list.join(' ')}${quote}`),
    list.map((each) => `"${each}"`).join(' '),
    JSON.stringify(list),
    `[${list.join(' ')}]`,
    list.map((each) => `- ${each}`).join('\n'),
    list.join('|'),
    '"redis://a"',
  ])
    t.throws(() => openStore(text), { ...OPTION, message: /and no commas, quotes or brackets/ })
  for (const wrong of ['redis://c,', '"redis://c"', 'redis://c;', ' redis://c'])
    t.throws(() => openStore(['redis://a', 'redis://b', wrong]), {
      ...OPTION,
      message: /stores\[2\] must be the address of one server .* without spaces, commas or quotes/,
    })
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
