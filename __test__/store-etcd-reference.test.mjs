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

/**
 * A store with a clock of whole ms (the real one has whole seconds, in which few of the steps could be compared). Its
 * counters are taken by a client that knows nothing of before a loss: who does knows more than the reference.
 */
function exactStore(endpoints, clock) {
  const newStore = () => etcdStore({ endpoints, fetch: clockedFetch(clock) })
  const store = newStore()
  let counters = newStore()
  // Since the header is rounded down, a step allows a client's clock to be ahead by the rest of that second.
  const rounded = ({ clientNow, ...request }) => {
    return { ...request, clientNow: clientNow > clock.now ? clientNow + ROUNDED_MS : clientNow }
  }
  return {
    open: (group, config) => store.open(group, config),
    acquire: (group, request) => store.acquire(group, rounded(request)),
    renew: (group, request) => store.renew(group, rounded(request)),
    release: (group, request) => store.release(group, request),
    destroy: (group) => store.destroy(group),
    list: (group) => store.list(group),
    advance: (...args) => counters.advance(...args),
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
  const clock = {
    cluster: '1',
    areLeasesExact: true,
    get now() {
      return Date.now()
    },
  }
  const store = exactStore(server.url, clock)
  await followsReference(t, { store, clock: async () => clock.now, faults: faultsOf(server, store, clock) })
})
