// recordStore(): which stores it accepts, and how it handles the answers of a user's own functions.

import { createRequire } from 'node:module'
import test from 'ava'
import { turn } from '../support/index.mjs'

const require = createRequire(import.meta.url)
const { checkedRecords, recordStore } = require('../../target/rooms/lib/stores/record-store.js')
const { createGroup } = require('../../dist/index.cjs')

const NOW = 1_795_186_950_216
const IDENTITY = { history: 'data 1', process: 'run 7' }
const RIGHT = { now: NOW, identity: IDENTITY, values: ['text', null] }
const NAMES = ['group', 'slot0000000000']

const none = async () => {}
const records = (functions) => checkedRecords({ read: none, swap: none, names: none, ...functions })
const reading = (answer) => records({ read: async () => answer }).read('g', NAMES)

test('anything but an object with read, swap and names is rejected, and the error says what is missing', (t) => {
  const refused = [
    [undefined, /^store must be an object with the functions read, swap and names, but is undefined$/],
    [() => {}, /but is a function$/],
    [{}, /but has no read\(\)\.$/],
    [{ read: none, names: none }, /but has no swap\(\)\.$/],
    [{ read: none, swap: none, names: [] }, /but has no names\(\)\.$/],
    [Promise.resolve({}), /but has no read\(\)\. It is a promise: await it first\.$/],
    [
      { read: none, swap: none, names: none, groups: [] },
      /^store\.groups must be a function, or left out, but is \[\]$/,
    ],
    [{ read: none, swap: none, names: none, close: 1 }, /^store\.close must be a function, or left out, but is 1$/],
  ]
  for (const [given, message] of refused) {
    for (const make of [checkedRecords, recordStore]) {
      t.throws(() => make(given), { instanceOf: TypeError, code: 'ERR_FLAKE_OPTION', message })
    }
  }
})

test('right answers come through, without their other properties', async (t) => {
  t.deepEqual(await reading({ ...RIGHT, more: 1 }), { ...RIGHT, position: undefined })
  t.deepEqual((await reading({ ...RIGHT, identity: { ...IDENTITY, more: 1 } })).identity, IDENTITY)
  for (const position of [0, 7, Number.MAX_SAFE_INTEGER, 0n, 2n ** 64n - 1n]) {
    t.is((await reading({ ...RIGHT, position })).position, position)
  }
  const identity = { history: '', process: '' }
  t.deepEqual((await reading({ ...RIGHT, identity })).identity, identity)
  const store = records({ swap: async () => false, names: async () => ['group'], groups: async () => [] })
  t.is(await store.swap('g', 'group', null, 'text', IDENTITY), false)
  t.deepEqual(await store.names('g'), ['group'])
  t.deepEqual(await store.groups(), [])
})

const CLOCK = "It must be the clock of the server in Unix ms, an integer as returned by JavaScript's Date.now()."
const WRONG = [
  [undefined, 'returned undefined as its answer. It must be { now, identity, values }.'],
  [null, 'returned null as its answer. It must be { now, identity, values }.'],
  [{ ...RIGHT, now: undefined }, `returned undefined as now. ${CLOCK}`],
  [{ ...RIGHT, now: String(NOW) }, `returned '${NOW}' as now. ${CLOCK}`],
  [{ ...RIGHT, now: NOW + 0.5 }, `returned ${NOW + 0.5} as now. ${CLOCK}`],
  [{ ...RIGHT, now: BigInt(NOW) }, `returned ${NOW}n as now. ${CLOCK}`],
  [{ ...RIGHT, now: new Date(NOW) }, `returned ${new Date(NOW).toISOString()} as now. ${CLOCK}`],
  [{ ...RIGHT, now: Number.NaN }, `returned NaN as now. ${CLOCK}`],
  [{ ...RIGHT, now: 0 }, `returned 0 as now. ${CLOCK}`],
  [{ ...RIGHT, now: 1_795_186_950 }, `returned 1795186950 as now. ${CLOCK} It looks like seconds.`],
  [{ ...RIGHT, now: NOW / 1000 }, `returned ${NOW / 1000} as now. ${CLOCK} It looks like seconds.`],
  [{ ...RIGHT, now: NOW * 1000 }, `returned ${NOW * 1000} as now. ${CLOCK} It looks like microseconds.`],
  [{ ...RIGHT, now: BigInt(NOW) * 1_000_000n }, `returned ${NOW}000000n as now. ${CLOCK} It looks like nanoseconds.`],
  [{ ...RIGHT, identity: undefined }, 'returned undefined as identity.history. It must be text.'],
  [{ ...RIGHT, identity: 'a' }, 'returned undefined as identity.history. It must be text.'],
  [{ ...RIGHT, identity: { history: 'a' } }, 'returned undefined as identity.process. It must be text.'],
  [{ ...RIGHT, identity: { history: 7, process: '' } }, 'returned 7 as identity.history. It must be text.'],
  [{ ...RIGHT, values: undefined }, 'returned undefined as values. It must be an array.'],
  [{ ...RIGHT, values: ['text'] }, "returned ['text'] as values. It must be an array of 2, one for each name."],
  [
    { ...RIGHT, values: [null, null, null] },
    'returned [null, null, null] as values. It must be an array of 2, one for each name.',
  ],
  ...[undefined, 5, Buffer.from('a'), true].map((value) => [
    { ...RIGHT, values: ['text', value] },
    /returned .* as values\[1\] \('slot0000000000'\)\. It must be text, or null if there is no such record\.$/,
  ]),
  // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
  [{ ...RIGHT, values: [, 'text'] }, /returned undefined as values\[0\] \('group'\)\./],
  ...[1.5, -1, -1n, 2n ** 64n, '7', null].map((position) => [
    { ...RIGHT, position },
    / as position\. It must be an integer from 0 to 2\^64 - 1, /,
  ]),
]

test('each wrong answer of read() is an error that shows the answer and the expected form', async (t) => {
  for (const [answer, message] of WRONG) {
    const text = typeof message === 'string' ? `read() of the store ${message}` : message
    await t.throwsAsync(reading(answer), { code: 'ERR_FLAKE_STORE', message: text })
  }
})

test('swap() must return true or false: anything else could be mistaken for a successful swap', async (t) => {
  for (const answer of [undefined, null, 1, 0, 'true', {}]) {
    const store = records({ swap: async () => answer })
    await t.throwsAsync(store.swap('g', 'group', null, 'text', IDENTITY), {
      code: 'ERR_FLAKE_STORE',
      message: /^swap\(\) of the store returned .* as its answer\. It must be true or false\.$/,
    })
  }
})

test('names() and groups() must return arrays of text', async (t) => {
  for (const call of ['names', 'groups']) {
    const store = (answer) => records({ [call]: async () => answer })
    for (const answer of [undefined, 'group', new Set(['group'])]) {
      const message = new RegExp(
        `^${call}\\(\\) of the store returned .* as its answer\\. It must be an array of names\\.$`,
      )
      await t.throwsAsync(store(answer)[call]('g'), { code: 'ERR_FLAKE_STORE', message })
    }
    const message = `${call}() of the store returned 3 as name 1 of its answer. It must be text.`
    await t.throwsAsync(store(['group', 3])[call]('g'), { code: 'ERR_FLAKE_STORE', message })
  }
})

test('an error thrown by a function is the cause, whether it is async or not', async (t) => {
  const cause = new Error('connection refused')
  const fail = () => {
    throw cause
  }
  for (const read of [fail, async () => fail()]) {
    const error = await t.throwsAsync(records({ read }).read('g', NAMES), {
      code: 'ERR_FLAKE_STORE',
      message: 'read() of the store failed. See the cause.',
    })
    t.is(error.cause, cause)
  }
})

test('the functions are called on their object, with copies of mutable arguments', async (t) => {
  class Mine {
    #calls = []
    async read(group, names) {
      this.#calls.push(['read', group, names.splice(0)])
      return RIGHT
    }
    async swap(group, name, from, to, identity) {
      this.#calls.push(['swap', group, name, from, to, { ...identity }])
      identity.history = 'changed'
      return true
    }
    async names(group) {
      this.#calls.push(['names', group])
      return []
    }
    async close() {
      this.#calls.push(['close'])
    }
    get calls() {
      return this.#calls
    }
  }
  const mine = new Mine()
  const store = checkedRecords(mine)
  const [names, identity] = [[...NAMES], { ...IDENTITY }]
  await store.read('g', names)
  await store.swap('g', 'group', null, 'text', identity)
  await store.names('g')
  await store.close()
  t.deepEqual(mine.calls, [
    ['read', 'g', NAMES],
    ['swap', 'g', 'group', null, 'text', IDENTITY],
    ['names', 'g'],
    ['close'],
  ])
  t.deepEqual([names, identity], [NAMES, IDENTITY])
})

test('groups() exists only if it is given, close() always', async (t) => {
  t.is(records({}).groups, undefined)
  t.is(typeof records({ groups: none }).groups, 'function')
  await t.notThrowsAsync(records({}).close())
})

test("durable is the user's own assurance", async (t) => {
  const store = records({})
  await t.notThrowsAsync(store.checkDurable())
})

test('a function that never answers: the error of the step names it', async (t) => {
  const store = recordStore({ read: () => new Promise(() => {}), swap: none, names: none })
  const error = await t.throwsAsync(store.has('g'), {
    code: 'ERR_FLAKE_STORE',
    message: /^read\(\) of the store failed/,
  })
  t.is(error.cause.message, 'no answer within 9000 ms')
})

test('after an abort no function is called, because nobody would learn of its failure', async (t) => {
  const over = new AbortController()
  let reads = 0
  const read = async () => {
    if (++reads > 1) throw new Error('connection refused')
    setImmediate(() => over.abort(new Error('enough')))
    return new Promise(() => {})
  }
  const store = recordStore({ read, swap: none, names: none })
  await t.throwsAsync(createGroup(store, { group: 'g', signal: over.signal }), { message: 'enough' })
  await turn()
  t.is(reads, 1)
})
