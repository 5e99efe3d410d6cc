'use strict'
// @ts-check

// The page at /: the files of ../../page/built, which need no token. What the page asks for needs one, where tokens are wanted.
// They are few and small, and are read once.

const { existsSync, readFileSync } = require('node:fs')
const path = require('node:path')

const FOLDER = path.join(__dirname, '..', '..', 'page', 'built')

/** @type {Record<string, [file: string, type: string]>} */
const FILES = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/page.css': ['page.css', 'text/css; charset=utf-8'],
  '/page.js': ['page.js', 'text/javascript; charset=utf-8'],
  '/icon.svg': ['icon.svg', 'image/svg+xml'],
}

const HEADERS = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache', // a newer server brings a newer page
}

/** @param {import('fastify').FastifyInstance} app */
async function routes(app) {
  for (const [url, [file, type]] of Object.entries(FILES)) {
    const found = path.join(FOLDER, file)
    if (!existsSync(found)) continue
    const content = readFileSync(found)
    app.get(url, { schema: { hide: true } }, (_request, reply) =>
      reply.headers({ ...HEADERS, 'content-type': type }).send(content),
    )
  }
}

exports.routes = routes
