// etcd for tests: one member or three, on free ports; a `fetch` whose store clock the test sets, and servers that
// answer in its place. An etcd that was running before is never touched.

import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { once } from '../support/waits.mjs'
import { findProgram, freePort, freshFolder, HERE, Server, wantProgram, withVariables } from './server.mjs'

const run = promisify(execFile)

/** Whether these tests can run: the path of etcd, or undefined with a loud message. */
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

  /** Stops the member and deletes its data. */
  async wipe() {
    await this.kill()
    await rm(this.data, { recursive: true, force: true })
  }

  /** The keys with this prefix, without their values. */
  async keysUnder(prefix) {
    const text = await this.ctl('get', '--prefix', '--keys-only', prefix)
    return text.split('\n').filter((line) => line !== '')
  }

  /** A record by its key. */
  async readRecord(key) {
    return JSON.parse(await this.ctl('get', '--print-value-only', key))
  }

  /** Changes fields of a record, which no step would do. */
  async editRecord(key, change) {
    const record = await this.readRecord(key)
    await this.ctl('put', key, JSON.stringify({ ...record, ...change }))
  }
}

function member({ name, scheme, port, peerPort, folder, options, machine, peer }) {
  const url = `${scheme}://${machine.host}:${port}`
  const peerUrl = `http://${peer.host}:${peer.port}`
  const settings = {
    name,
    'data-dir': join(folder, 'data'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': `http://${machine.host}:${peerPort}`,
    'initial-advertise-peer-urls': peerUrl,
  }
  const args = Object.entries(settings).flatMap(([option, value]) => [`--${option}`, value])
  const command = machine.inside(withVariables(machine.environment, ['etcd', ...args, ...options]))
  const server = new Etcd({ command, folder, isReady: () => server.isReady() })
  server.isReady = () => server.ctl('get', 'nothing')
  return Object.assign(server, { name, url, peerUrl, port })
}

async function newMember(name, { scheme = 'http', options = [], ctlOptions, machine = HERE } = {}) {
  const [port, peerPort, folder] = [await freePort(), await freePort(), await freshFolder('etcd')]
  const peer = (await machine.open?.(peerPort)) ?? { host: machine.host, port: peerPort }
  const server = member({ name, scheme, port, peerPort, folder, options, machine, peer })
  return Object.assign(server, { ctlOptions })
}

const joined = (members) => members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',')

/** A running member that is a separate cluster. */
export async function startEtcd(options) {
  const server = await newMember('alone', options)
  server.command.push('--initial-cluster', joined([server]))
  return server.start()
}

/** Three running members of one cluster, each on its machine. */
export async function startCluster(machines = [HERE, HERE, HERE], options = []) {
  const members = []
  for (const [i, name] of ['one', 'two', 'three'].entries())
    members.push(await newMember(name, { machine: machines[i], options }))
  for (const { command } of members) command.push('--initial-cluster', joined(members))
  await Promise.all(members.map((each) => each.start()))
  return members
}

/** An answer of the gateway with another clock. */
async function altered(response, { now, cluster }) {
  const { status } = response
  const body = JSON.parse(await response.text())
  if (cluster && body.header) body.header.cluster_id = cluster
  return new Response(JSON.stringify(body), { status, headers: { date: new Date(now).toISOString() } })
}

/**
 * A `fetch` through which the store's clock is at `clock.now`, to the ms if necessary, and the cluster has the number
 * `clock.cluster`.
 */
export function clockedFetch(clock) {
  return async (url, options) => {
    const response = await fetch(url, options)
    return altered(response, { now: clock.now, cluster: clock.cluster })
  }
}

/** A server that gives these answers in place of an etcd; its address. */
export async function fake(t, answer) {
  const http = createServer(answer).listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.teardown(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${http.address().port}`
}
