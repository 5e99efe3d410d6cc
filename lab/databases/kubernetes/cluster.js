// The control plane of Kubernetes, as far as Leases need it: two API servers on one etcd, with roles, service accounts and TLS.

import { writeFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { freePort, freshFolder, Server, until } from '../../../__test__/servers/server.mjs'
import { makeCertificate } from '../../../__test__/support/certificates.mjs'
import { buildPrograms } from './programs.js'

export const ADMIN = 'the-administrator'
const SERVERS = 2
/** It takes five seconds on a quiet machine. */
const READY_MS = 180_000
const ROLES = join(import.meta.dirname, '..', '..', '..', 'examples', 'kubernetes', 'leases.yaml')
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

/** Lets `fetch` of this process trust a CA, as NODE_EXTRA_CA_CERTS does for one that starts. */
async function trust(ca) {
  process.env.NODE_EXTRA_CA_CERTS = ca // for children
  await fetch('data:,') // makes the dispatcher
  const { constructor: Agent } = globalThis[DISPATCHER]
  globalThis[DISPATCHER] = new Agent({ connect: { ca: await readFile(ca, 'utf8') } })
}

async function answers(url, headers = {}) {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(2000) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
}

async function makeEtcd(program) {
  const [port, peerPort, folder] = [await freePort(), await freePort(), await freshFolder('etcd')]
  const [url, peer] = [port, peerPort].map((each) => `http://127.0.0.1:${each}`)
  const peers = ['--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`]
  const command = [
    program,
    ...['--data-dir', join(folder, 'data'), '--log-level', 'error'],
    ...['--listen-client-urls', url, '--advertise-client-urls', url, '--listen-peer-urls', peer, ...peers],
  ]
  const server = new Server({ command, folder, isReady: () => answers(`${url}/health`) })
  return Object.assign(server, { url, data: join(folder, 'data'), peers })
}

async function makeApiServer(program, etcd, { ca, account }) {
  const [port, folder] = [await freePort(), await freshFolder('kube-apiserver')]
  const { key, cert } = await makeCertificate(folder, 'kube-apiserver', ca)
  writeFileSync(join(folder, 'tokens.csv'), `${ADMIN},admin,admin,system:masters\n`, { mode: 0o600 })
  const url = `https://127.0.0.1:${port}`
  const command = [
    program,
    `--etcd-servers=${etcd.url}`,
    ...['--bind-address=127.0.0.1', '--advertise-address=127.0.0.1', `--secure-port=${port}`],
    ...[`--tls-cert-file=${cert}`, `--tls-private-key-file=${key}`, `--cert-dir=${folder}`],
    ...['--authorization-mode=RBAC', `--token-auth-file=${join(folder, 'tokens.csv')}`],
    '--service-account-issuer=https://kubernetes.default.svc',
    ...[`--service-account-key-file=${account.cert}`, `--service-account-signing-key-file=${account.key}`],
    ...['--service-cluster-ip-range=10.0.0.0/24', '--endpoint-reconciler-type=none'],
  ]
  const isReady = () => answers(`${url}/readyz`, { authorization: `Bearer ${ADMIN}` })
  return Object.assign(new Server({ command, folder, isReady, readyMs: READY_MS }), { url, port })
}

const pathOf = ({ apiVersion, kind }, namespace) =>
  `/${apiVersion === 'v1' ? 'api' : 'apis'}/${apiVersion}/namespaces/${namespace}/${kind.toLowerCase()}s`

class Cluster {
  namespace = 'ids'

  static async start() {
    const programs = buildPrograms()
    const folder = await freshFolder('kubernetes')
    const ca = await makeCertificate(folder, 'ca')
    const keys = { ca, account: await makeCertificate(folder, 'account') }
    await trust(ca.cert)
    const cluster = new Cluster()
    const etcd = await makeEtcd(programs.etcd)
    const apis = []
    for (let i = 0; i < SERVERS; i++) apis.push(await makeApiServer(programs.apiserver, etcd, keys))
    Object.assign(cluster, { programs, etcd, apis, tokenFile: join(folder, 'token') })
    await cluster.startAll()
    return cluster
  }

  /** On the data of etcd, with the namespace, the account of leases.yaml and a token of it. */
  async startAll() {
    await this.etcd.start()
    await Promise.all(this.apis.map((api) => api.start()))
    await this.#prepare()
  }

  async #prepare() {
    const { namespace } = this
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
    const made = await this.ask('POST', '/api/v1/namespaces', body)
    if (made.status !== 409) {
      for (const each of parseAllDocuments(await readFile(ROLES, 'utf8')))
        await this.done('POST', pathOf(each.toJS(), namespace), each.toJS())
    }
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/flakeforge/token`
    const { status } = await this.done('POST', account, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3600 },
    })
    writeFileSync(this.tokenFile, status.token)
  }

  /** How a store reaches it. */
  get place() {
    const { namespace, tokenFile } = this
    return { servers: this.apis.map(({ url }) => url), namespace, tokenFile }
  }

  /** A request to the first server, as the administrator or with another token. */
  async ask(method, path, body, token = ADMIN) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(new URL(path, this.apis[0].url), init)
    return { status: response.status, json: await response.json() }
  }

  /** The same, which must be done. */
  async done(...request) {
    const { status, json } = await this.ask(...request)
    if (status >= 300) throw new Error(`${request[0]} ${request[1]} was answered ${status}: ${json.message}`)
    return json
  }

  /** Waits until each server answers. */
  async isWhole() {
    await until(() => Promise.all(this.apis.map((api) => api.isReady())).catch(() => false), { everyMs: 200 })
  }

  /** Everything is gone, and there is a new cluster at the same addresses. */
  async wipe() {
    await this.kill()
    await rm(this.etcd.data, { recursive: true })
    await this.startAll()
  }

  /** Ends all programs; their data stays. */
  async kill() {
    await Promise.all([...this.apis, this.etcd].map((server) => server.kill()))
  }

  async stop() {
    await Promise.all([...this.apis, this.etcd].map((server) => server.stop()))
  }
}

export const startCluster = Cluster.start
