// etcd for tests: one member or three, on free ports; a `fetch` whose store clock the test sets.
// It must never touch an etcd that was there before.

import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram, freePort, freshFolder, Server, wantProgram } from './server.mjs'

const require = createRequire(import.meta.url)
const keys = require('../../lib/stores/etcd/keys.js')

const run = promisify(execFile)

/** Whether these tests can run: the path of etcd, or undefined after a loud word. */
export const wantEtcd = () => wantProgram('etcd')

class Etcd extends Server {
  /** Runs etcdctl on this member. */
  async ctl(...words) {
    const settings = ['--endpoints', this.url, ...(this.ctlOptions ?? [])]
    const { stdout } = await run(findProgram('etcdctl'), [...settings, ...words], {
      env: { ...process.env, ETCDCTL_API: '3' },
    })
    return stdout.trimEnd()
  }

  get data() {
    return join(this.folder, 'data')
  }

  /** Ends the member and forgets all that it knew. */
  async wipe() {
    await this.kill()
    await rm(this.data, { recursive: true, force: true })
  }

  /** The keys that begin so, without their values. */
  async keysUnder(prefix) {
    const text = await this.ctl('get', '--prefix', '--keys-only', prefix)
    return text.split('\n').filter((line) => line !== '')
  }

  /** A record by its key. */
  async readRecord(key) {
    return JSON.parse(await this.ctl('get', '--print-value-only', key))
  }

  /** Changes fields of a record, as no step would. */
  async editRecord(key, change) {
    const record = await this.readRecord(key)
    await this.ctl('put', key, JSON.stringify({ ...record, ...change }))
  }
}

function member({ name, scheme, port, peerPort, folder, options }) {
  const url = `${scheme}://127.0.0.1:${port}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  const settings = {
    name,
    'data-dir': join(folder, 'data'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
  }
  const args = Object.entries(settings).flatMap(([option, value]) => [`--${option}`, value])
  const server = new Etcd({ command: ['etcd', ...args, ...options], folder, isReady: () => server.isReady() })
  server.isReady = () => server.ctl('get', 'nothing')
  return Object.assign(server, { name, url, peerUrl, port })
}

async function newMember(name, { scheme = 'http', options = [], ctlOptions } = {}) {
  const [port, peerPort, folder] = [await freePort(), await freePort(), await freshFolder('etcd')]
  const server = member({ name, scheme, port, peerPort, folder, options })
  return Object.assign(server, { ctlOptions })
}

const joined = (members) => members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',')

/** A running member that is a cluster of its own. */
export async function startEtcd(options) {
  const server = await newMember('alone', options)
  server.command.push('--initial-cluster', joined([server]))
  return server.start()
}

/** Three running members of one cluster. */
export async function startCluster() {
  const members = []
  for (const name of ['one', 'two', 'three']) members.push(await newMember(name))
  for (const { command } of members) command.push('--initial-cluster', joined(members))
  await Promise.all(members.map((each) => each.start()))
  return members
}

/** Leaves out the keys of owners whose windows are over by `now`, as if their etcd leases ended in the same ms. */
function withoutExpired({ response_range: range, ...other }, now) {
  if (range?.kvs === undefined) return { response_range: range, ...other }
  const isOver = ({ key }) => {
    const [, hi] = /\/slots\/own\/(\d+)\//.exec(Buffer.from(key, 'base64').toString()) ?? []
    return Number(hi) < now
  }
  return { response_range: { ...range, kvs: range.kvs.filter((kv) => !isOver(kv)) } }
}

/** An answer of the gateway by another clock. */
async function altered(response, { now, cluster, areLeasesExact }) {
  const { status } = response
  const body = JSON.parse(await response.text())
  if (cluster && body.header) body.header.cluster_id = cluster
  if (areLeasesExact && body.responses) body.responses = body.responses.map((each) => withoutExpired(each, now))
  return new Response(JSON.stringify(body), { status, headers: { date: new Date(now).toISOString() } })
}

/**
 * A `fetch` by which the store's clock stands where `clock.now` says, to the ms if need be, and the cluster has the number
 * `clock.cluster`. An etcd lease still runs by the server's own clock, unless `clock.areLeasesExact`: then it ends with
 * the window. `clock.keptAlive` counts the calls that keep one alive.
 */
export function clockedFetch(clock) {
  return async (url, options) => {
    if (url.endsWith('/keepalive')) clock.keptAlive += 1
    const response = await fetch(url, options)
    const { now, cluster, areLeasesExact } = clock
    return altered(response, { now, cluster, areLeasesExact })
  }
}

/** As when the etcd leases of all owners whose windows are over by `now` had run out. */
export async function expireOwners(server, group, now) {
  const { alive } = keys.groupKeys(group)
  await server.ctl('del', alive, alive + keys.place({ hi: now, slot: 0 }))
}
