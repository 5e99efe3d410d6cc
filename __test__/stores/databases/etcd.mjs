// etcd over fetch, for tests that run on all databases: how to start a server or three, changes behind the store's
// back, how to break it, and a row for each way to it.

import { createRequire } from 'node:module'
import * as etcd from '../../servers/etcd.mjs'

const require = createRequire(import.meta.url)
const { Gateway } = require('../../../target/rooms/lib/stores/etcd/gateway.js')
const { recordKey } = require('../../../target/rooms/lib/stores/etcd/keys.js')
const { parseUrl, readOptions } = require('../../../target/rooms/lib/stores/etcd/options.js')
const { EtcdRecords } = require('../../../target/rooms/lib/stores/etcd/records.js')
const { etcdStore, openEtcd } = require('../../../target/rooms/lib/stores/etcd.js')

const urlOf = ({ url }) => url.replace(/^http:/, 'etcd:')

async function startServer() {
  const server = await etcd.startEtcd()
  return { server, url: urlOf(server), endpoints: [server.url], stop: () => server.stop() }
}

async function startThree() {
  const members = await etcd.startCluster()
  const stop = () => Promise.all(members.map((member) => member.stop()))
  return { server: members[0], endpoints: members.map(({ url }) => url), stop }
}

const end = () => {}

/** A clock of ms, in place of the server's, which has whole seconds. */
const clock = {
  get now() {
    return Date.now()
  },
}

const ROWS = {
  fetch: {
    isFull: true,
    connect: async ({ url, endpoints = url.replace(/^etcd:/, 'http:') }) => ({ client: { endpoints }, end }),
  },
  'a URL': { isOurs: true, connect: async ({ url }) => ({ client: parseUrl(url), end }) },
  'fetch, to three members': { site: 'three', connect: async ({ endpoints }) => ({ client: { endpoints }, end }) },
}

export const ETCD = {
  isInstalled: () => etcd.wantEtcd() !== undefined,
  start: () => etcd.startEtcd(),
  urlOf,
  sites: { server: startServer, three: startThree },
  rows: ROWS,
  /** For tests with windows of a few ms. */
  fastClients: {
    'fetch with a clock of ms': async ({ url }) => ({
      client: { endpoints: url, fetch: etcd.clockedFetch(clock) },
      end,
    }),
  },
  recordsOf: (client) => new EtcdRecords(new Gateway(readOptions(client))),
  storeOf: etcdStore,
  openUrl: openEtcd,
  get: async (server, ...key) => (await server.ctl('get', '--print-value-only', recordKey(...key))) || null,
  put: (server, group, name, text) => server.ctl('put', recordKey(group, name), text),
  remove: (server, ...key) => server.ctl('del', recordKey(...key)),
  crash: (server) => server.kill(),
  identity: ['history'],
  signals: ['SIGTERM', 'SIGKILL'],
  /** There is no connection to end, so a store remains usable after its end. */
  isNeverClosed: true,
  program: { file: 'etcd', open: 'openEtcd', schemes: ['etcd'], path: '' },
}
