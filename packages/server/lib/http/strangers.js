'use strict'
// @ts-check

// Whom a browser may ask for: a page of another site must not use up IDs of the server that a developer runs, nor reach it
// under a name of its own that it points to this machine. Programs send no Origin and are not concerned.

const { isLoopback } = require('./loopback.js')
const { Problem } = require('./problems.js')

/**
 * Refuses requests that pages of other sites make.
 * @param {import('fastify').FastifyInstance} app
 * @param {import('../config/read.js').Config} config
 */
function refuseStrangers(app, { host, socket, cors = [], 'allow-host': allowed = [] }) {
  const names = [host, ...allowed].map((name) => name.toLowerCase())
  const isLocal = socket === undefined && isLoopback(host)
  const isAny = cors.includes('*')
  app.addHook('onRequest', (request, _reply, done) => {
    const { host: asked, origin } = request.headers
    if (isLocal && asked !== undefined && !isKnown(asked, names)) throw foreignHost(asked)
    if (origin !== undefined && !isAny && !cors.includes(origin) && !isOf(origin, request.host))
      throw foreignPage(origin)
    done()
  })
}

/**
 * @param {string} asked the header Host
 * @param {string[]} names
 */
function isKnown(asked, names) {
  const [, address, name] = /^(?:\[([^\]]+)\]|([^:]*))(?::\d*)?$/.exec(asked) ?? []
  const text = (address ?? name ?? '').toLowerCase()
  return isLoopback(text) || names.includes(text)
}

/**
 * Whether an origin is that of the host itself. Which scheme a proxy speaks to us says nothing.
 * @param {string} origin
 * @param {string} host
 */
function isOf(origin, host) {
  if (!URL.canParse(origin)) return false
  const { protocol, host: own } = new URL(origin)
  const url = `${protocol}//${host}`
  return URL.canParse(url) && new URL(url).host === own
}

/** @param {string} text what somebody else chose */
const shown = (text) => `'${text.slice(0, 100)}'`

/** @param {string} origin */
const foreignPage = (origin) =>
  new Problem(
    403,
    'ERR_FLAKE_ORIGIN',
    `Pages of ${shown(origin)} may not ask this server. Its option --cors names those that may.`,
  )

/** @param {string} host */
const foreignHost = (host) =>
  new Problem(
    403,
    'ERR_FLAKE_HOST',
    `This server is for its own machine, and not called ${shown(host)}. Its option --allow-host names what else it is called.`,
  )

exports.refuseStrangers = refuseStrangers
