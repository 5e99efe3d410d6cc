// A store on the Leases of Kubernetes: one Lease for each record, whose text is an annotation. docs/store/kubernetes-leases.md says
// why it is right, and for whom. Use it as
//
//   FlakeId.join(recordStore(await open()), { group: 'orders' })
//
// In a pod it finds the API by itself; NODE_EXTRA_CA_CERTS has to name the cluster's certificate. Elsewhere, pass { server,
// namespace, token }.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
const [GROUP, RECORD, TEXT] = ['group', 'record', 'text'].map((name) => `flakeforge.dev/${name}`)
const LIMIT_MS = 3000
const FEW = 64 // names that fit into a query

/** The Lease that identifies the data: its uid changes when all is deleted, or the namespace is another. */
const ANCHOR = 'history'

const inPod = {
  server: `https://${process.env.KUBERNETES_SERVICE_HOST}:${process.env.KUBERNETES_SERVICE_PORT}`,
  namespace: () => readFile(`${ACCOUNT}/namespace`, 'utf8'),
  token: () => readFile(`${ACCOUNT}/token`, 'utf8'), // each time, since it is replaced every hour
}

const hashOf = (group) => createHash('sha256').update(group).digest('hex').slice(0, 40)

/** @param {{ server?: string, namespace?: () => Promise<string>, token?: () => Promise<string> }} options */
export default async function open({ server, namespace, token } = {}) {
  const [base, ask] = [server ?? inPod.server, token ?? inPod.token]
  const space = (await (namespace ?? inPod.namespace)()).trim()
  const leases = new URL(`/apis/coordination.k8s.io/v1/namespaces/${space}/leases`, base)

  async function call(method, url, body) {
    const headers = { authorization: `Bearer ${(await ask()).trim()}`, 'content-type': 'application/json' }
    const init = { method, headers, redirect: 'error', signal: AbortSignal.timeout(LIMIT_MS) }
    const response = await fetch(url, { ...init, ...(body && { body: JSON.stringify(body) }) })
    const [text, date] = [await response.text(), response.headers.get('date')]
    // A server that is busy or starts, or a proxy before it, answers without JSON.
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, date, json: isJson ? JSON.parse(text) : { message: text.slice(0, 200) } }
  }

  const errorOf = ({ status, json }, what) => new Error(`Kubernetes answered ${status} to ${what}: ${json.message}`)

  /** The anchor and Leases of one revision. A list without resourceVersion shows every write that was answered before. */
  async function list(selector) {
    const url = new URL(leases)
    url.searchParams.set('labelSelector', selector)
    const answer = await call('GET', url)
    if (answer.status !== 200) throw errorOf(answer, 'a list of Leases')
    const { date, json } = answer
    const anchor = json.items.find(({ metadata }) => metadata.labels[RECORD] === ANCHOR)
    return { items: json.items, anchor, date, revision: BigInt(json.metadata.resourceVersion) }
  }

  const create = (hash, group, name, text) =>
    call('POST', leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: `flakeforge-${hash}-${name}`,
        labels: { [GROUP]: hash, [RECORD]: name },
        annotations: { [GROUP]: group, [TEXT]: text },
      },
    })

  /** The same, with an anchor. */
  async function listed(selector) {
    const found = await list(selector)
    if (found.anchor !== undefined) return found
    const answer = await create('all', '', ANCHOR, '') // 409 if another member was faster
    const again = await list(selector)
    if (again.anchor === undefined) throw errorOf(answer, 'the first Lease of a namespace')
    return again
  }

  const among = (names) => (names.length > FEW ? '' : `,${RECORD} in (${[ANCHOR, ...names].join(',')})`)
  const records = (group, names) => listed(`${GROUP} in (all,${hashOf(group)})${among(names)}`)

  /** Whether the API has done it. A conflict, or an object that is gone, is a no. */
  function isDone(answer) {
    if (answer.status === 200 || answer.status === 201) return true
    if (answer.status === 404 || answer.status === 409) return false
    throw errorOf(answer, 'a write of a Lease')
  }

  return {
    async read(group, wanted) {
      const { items, anchor, date, revision } = await records(group, wanted)
      const texts = new Map(items.map(({ metadata }) => [metadata.labels[RECORD], metadata.annotations?.[TEXT]]))
      return {
        now: Date.parse(date) + 999, // whole seconds, rounded down: so it is never older than the list
        identity: { history: anchor.metadata.uid, process: '' },
        position: revision,
        values: wanted.map((name) => texts.get(name) ?? null),
      }
    },

    async swap(group, name, from, to, { history, process }) {
      const isSame = ({ anchor }) => anchor.metadata.uid === history && process === ''
      const before = await records(group, [name])
      if (!isSame(before)) return false
      const lease = before.items.find(({ metadata }) => metadata.labels[RECORD] === name)
      if ((lease?.metadata.annotations?.[TEXT] ?? null) !== from) return false
      if (lease === undefined) {
        // Nothing but the name can be compared here. So if all was deleted meanwhile, the answer is no.
        return isDone(await create(hashOf(group), group, name, to)) && isSame(await records(group, [name]))
      }
      lease.metadata.annotations[TEXT] = to
      return isDone(await call('PUT', `${leases}/${lease.metadata.name}`, lease)) // uid and resourceVersion must still be these
    },

    async names(group) {
      const { items, anchor } = await listed(`${GROUP} in (all,${hashOf(group)})`)
      return items.filter((each) => each !== anchor).map(({ metadata }) => metadata.labels[RECORD])
    },

    async groups() {
      const { items } = await list(`${RECORD},${GROUP}!=all`)
      return [...new Set(items.map(({ metadata }) => metadata.annotations[GROUP]))]
    },
  }
}
