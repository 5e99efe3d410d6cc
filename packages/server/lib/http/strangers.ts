// Protects against browsers: a page of another site must not use up IDs of a developer's server, nor reach it under its own
// host name that it points to this machine. Programs send no Origin and are not affected.

import type { FastifyInstance } from 'fastify'
import type { Listener } from './listen.ts'
import { Problem, shown } from './problems.ts'

/**
 * Refuses requests of pages of other sites.
 * @param cors the origins whose pages may send requests
 */
export function refuseStrangers(app: FastifyInstance, { isName }: Listener, cors: string[] = []) {
  const isAny = cors.includes('*')
  let known: string | undefined // the last name that passed: nearly all requests have the same
  app.addHook('onRequest', (request, _reply, done) => {
    const { host: asked, origin } = request.headers
    if (isName !== undefined && asked !== undefined && asked !== known) {
      if (!isName(nameIn(asked))) throw foreignHost(asked)
      known = asked
    }
    if (origin !== undefined && !isAny && !cors.includes(origin) && !isOf(origin, request.host))
      throw foreignPage(origin)
    done()
  })
}

/** The name in the header Host, without its port and the brackets of an address. */
function nameIn(asked: string) {
  const [, address, name] = /^(?:\[([^\]]+)\]|([^:]*))(?::\d*)?$/.exec(asked) ?? []
  return (address ?? name ?? '').toLowerCase()
}

/** Whether an origin is that of the host itself. The scheme of a proxy's request to us does not matter. */
function isOf(origin: string, host: string) {
  if (!URL.canParse(origin)) return false
  const { protocol, host: own } = new URL(origin)
  const url = `${protocol}//${host}`
  return URL.canParse(url) && new URL(url).host === own
}

const foreignPage = (origin: string) =>
  new Problem(
    403,
    'ERR_FLAKE_ORIGIN',
    `Pages of ${shown(origin)} may not use this server. Its option --cors lists the allowed origins.`,
  )

const foreignHost = (host: string) =>
  new Problem(403, 'ERR_FLAKE_HOST', `${shown(host)} is not a name of this server. Its option --allow-host adds names.`)
