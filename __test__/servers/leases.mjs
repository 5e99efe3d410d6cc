// A small server for the Leases of the Kubernetes API, as its reference describes them: lists by labels at one revision, names that
// exist once, and replacements that compare uid and resourceVersion. It answers as kube-apiserver does, which is too large for tests:
// `npm run databases:stores -- kubernetes` runs that one.

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from '../support/waits.mjs'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases'

/** Whether labels fit a selector such as `a in (x,y),b,c!=z`. */
function fits(labels, selector) {
  return selector.split(/,(?![^(]*\))/).every((term) => {
    const [, key, values] = /^(.+) in \((.*)\)$/.exec(term) ?? []
    if (key !== undefined) return values.split(',').includes(labels[key])
    const [name, other] = term.split('!=')
    return other === undefined ? Object.hasOwn(labels, name) : labels[name] !== other
  })
}

const status = (code, reason) => [
  code,
  { kind: 'Status', status: 'Failure', reason, message: `${reason} (${code})`, code },
]

export async function startLeases() {
  let revision = 0
  const leases = new Map()
  const write = (lease, uid) => {
    const { name } = lease.metadata
    leases.set(name, { ...lease, metadata: { ...lease.metadata, uid, resourceVersion: String(++revision) } })
    return leases.get(name)
  }

  function answer(method, { pathname, searchParams }, body) {
    if (method === 'GET' && pathname === LEASES) {
      const items = [...leases.values()].filter(({ metadata }) =>
        fits(metadata.labels, searchParams.get('labelSelector')),
      )
      return [200, { kind: 'LeaseList', metadata: { resourceVersion: String(revision) }, items }]
    }
    const { name, uid, resourceVersion } = body.metadata
    const known = leases.get(name)?.metadata
    if (method === 'POST' && pathname === LEASES)
      return known === undefined ? [201, write(body, randomUUID())] : status(409, 'AlreadyExists')
    if (method !== 'PUT' || pathname !== `${LEASES}/${name}`) return status(404, 'NotFound')
    if (known === undefined) return uid === undefined ? [201, write(body, randomUUID())] : status(409, 'Conflict')
    if (known.uid !== uid || known.resourceVersion !== resourceVersion) return status(409, 'Conflict')
    return [200, write(body, uid)]
  }

  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const isKnown = request.headers.authorization === 'Bearer token'
    const [code, json] = isKnown
      ? answer(request.method, new URL(request.url, 'http://localhost'), text === '' ? undefined : JSON.parse(text))
      : status(401, 'Unauthorized')
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(json))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Deletes all Leases. */
    wipe: () => leases.clear(),
    /** Puts back a revision from the past, as a restored etcd does. */
    rewind: (by) => {
      revision -= by
    },
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
