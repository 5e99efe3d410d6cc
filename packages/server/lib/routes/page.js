'use strict'
// @ts-check

// The page at /: the files of ../../page/built, which need no token. What the page asks for needs one, where tokens are wanted.

const { existsSync } = require('node:fs')
const path = require('node:path')

const FOLDER = path.join(__dirname, '..', '..', 'page', 'built')
const FILES = { '/': 'index.html', '/page.css': 'page.css', '/page.js': 'page.js', '/icon.svg': 'icon.svg' }

const HEADERS = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache', // a newer server brings a newer page
}

/** @param {import('fastify').FastifyInstance} app */
async function routes(app) {
  await app.register(require('@fastify/static'), { root: FOLDER, serve: false, cacheControl: false })
  for (const [url, file] of Object.entries(FILES)) {
    if (!existsSync(path.join(FOLDER, file))) continue
    app.get(url, { config: { open: true }, schema: { hide: true } }, (_request, reply) =>
      reply.headers(HEADERS).sendFile(file),
    )
  }
}

exports.routes = routes
