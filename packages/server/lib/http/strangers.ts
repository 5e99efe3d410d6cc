// Protects against browsers: a page of another site must not use up IDs of a developer's server, nor reach it under its own
// host name that it points to this machine. Programs send no Origin and are not affected.

import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/read.ts'
import { isLoopback } from './loopback.ts'
import { Problem } from './problems.ts'

/** Refuses requests of pages of other sites. */
export function refuseStrangers(
  app: FastifyInstance,
  { host, isLocal, cors = [], 'allow-host': allowed = [] }: Config,
) {
  const names = [host, ...allowed].map((name) => name.toLowerCase())
  const isAny = cors.includes('*')
  app.addHook('onRequest', (request, _reply, done) => {
    const { host: asked, origin } = request.headers
    if (isLocal && asked !== undefined && !isKnown(asked, names)) throw foreignHost(asked)
    if (origin !== undefined && !isAny && !cors.includes(origin) && !isOf(origin, request.host))
      throw foreignPage(origin)
    done()
  })
}

/** @param asked the header Host */
function isKnown(asked: string, names: string[]) {
  const [, address, name] = /^(?:\[([^\]]+)\]|([^:]*))(?::\d*)?$/.exec(asked) ?? []
  const text = (address ?? name ?? '').toLowerCase()
  return isLoopback(text) || names.includes(text)
}

/** Whether an origin is that of the host itself. The scheme of a proxy's request to us does not matter. */
function isOf(origin: string, host: string) {
  if (!URL.canParse(origin)) return false
  const { protocol, host: own } = new URL(origin)
  const url = `${protocol}//${host}`
  return URL.canParse(url) && new URL(url).host === own
}

/** @param text under a client's control */
const shown = (text: string) => `'${text.slice(0, 100)}'`

const foreignPage = (origin: string) =>
  new Problem(
    403,
    'ERR_FLAKE_ORIGIN',
    `Pages of ${shown(origin)} may not use this server. Its option --cors lists the allowed origins.`,
  )

const foreignHost = (host: string) =>
  new Problem(
    403,
    'ERR_FLAKE_HOST',
    `This server serves only its own machine, and ${shown(host)} is not its name. Its option --allow-host adds names.`,
  )
