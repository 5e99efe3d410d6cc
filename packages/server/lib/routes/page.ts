// The page at /: the files of page/built, which need no token. The page's requests need one, if tokens are configured. The
// files are few and small, and are read once.

import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'

const FOLDER = path.join(import.meta.dirname, '..', 'page', 'built')

const FILES: Record<string, [file: string, type: string]> = {
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

export async function routes(app: FastifyInstance) {
  for (const [url, [file, type]] of Object.entries(FILES)) {
    const found = path.join(FOLDER, file)
    if (!existsSync(found)) continue
    const content = readFileSync(found)
    app.get(url, { schema: { hide: true } }, (_request, reply) =>
      reply.headers({ ...HEADERS, 'content-type': type }).send(content),
    )
  }
}
