// Random steps on a real etcd give what the reference of the rules gives.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { clockedFetch, startEtcd, wantEtcd } from './servers/etcd.mjs'
import { followsReference } from './store-reference.mjs'

const require = createRequire(import.meta.url)
const { etcdStore } = require('../lib/stores/etcd.js')
const { Gateway } = require('../lib/stores/etcd/gateway.js')
const { all, put, removeAll } = require('../lib/stores/etcd/keys.js')

const test = wantEtcd() === undefined ? anyTest.skip : anyTest

const EVERYTHING = 'flakeforge/'
const ROUNDED_MS = 999

/** The store's clock: it has whole ms (with the real one's seconds few steps could be compared) and stands during a step. */
class Clock {
  #stopped
  cluster = '1'
  areLeasesExact = true

  get now() {
    return this.#stopped ?? Date.now()
  }

  async during(step) {
    this.#stopped = Date.now()
    try {
      return await step()
    } finally {
      this.#stopped = undefined
    }
  }
}

/**
 * A store by that clock. Its counters are taken by a client that knows nothing of before a loss: who does knows more than
 * the reference.
 */
function exactStore(endpoints, clock) {
  const newStore = () => etcdStore({ endpoints, fetch: clockedFetch(clock) })
  const store = newStore()
  let counters = newStore()
  const step = (name) => (group, request) => clock.during(() => store[name](group, request))
  // Since the header is rounded down, a step allows a client's clock to be ahead by the rest of that second.
  const timedStep = (name) => (group, request) =>
    clock.during(() => {
      const clientNow = request.clientNow > clock.now ? request.clientNow + ROUNDED_MS : request.clientNow
      return store[name](group, { ...request, clientNow })
    })
  return {
    open: step('open'),
    acquire: timedStep('acquire'),
    renew: timedStep('renew'),
    release: step('release'),
    destroy: step('destroy'),
    list: step('list'),
    advance: (...args) => clock.during(() => counters.advance(...args)),
    forget: () => {
      counters = newStore()
    },
  }
}

/** What can happen to a server, done by hand so that it takes no time. */
function faultsOf(server, store, clock) {
  const gateway = new Gateway({ endpoints: [server.url], fetch })
  let saved = []
  const flush = () => gateway.txn({ success: [removeAll(EVERYTHING)] })
  // no reason to be quiet by itself; a cluster of another number is one
  const restart = () => {
    clock.cluster = String(Number(clock.cluster) + 1)
    store.forget()
  }
  return {
    restart: async () => restart(),
    flush: async () => {
      await flush()
      restart()
    },
    save: async () => {
      saved = (await gateway.txn({ success: [all(EVERYTHING)] })).lists[0]
    },
    rollBack: async () => {
      await flush()
      for (const { key, value } of saved) await gateway.txn({ success: [put(key, value)] })
      restart()
    },
  }
}

test('the store follows the reference', async (t) => {
  t.timeout(240_000) // the reference may have to be compiled
  const server = await startEtcd()
  t.teardown(() => server.stop())
  const clock = new Clock()
  const store = exactStore(server.url, clock)
  await followsReference(t, { store, clock: async () => clock.now, faults: faultsOf(server, store, clock) })
})
