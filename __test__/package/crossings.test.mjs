// Whatever is not ours (a file, a statement, a certificate, another program's text) is reached through one module, which
// finds out once what it really is: SECURITY.md names these owners. A row is one kind of crossing. Its test fails when
// another file crosses by itself.

import fs from 'node:fs'
import path from 'node:path'
import test from 'ava'

const root = path.join(import.meta.dirname, '..', '..')

/**
 * `code`: what a crossing looks like. `sample`: a line that crosses, so that the pattern is known to find one. `within`:
 * the folders that are searched. `owners`: the files that may cross; each of them does, or its entry here is stale.
 */
const CROSSINGS = [
  {
    kind: 'outgoing HTTP',
    code: /(?<![\w.#])fetch\(/,
    sample: 'const response = await fetch(url)',
    within: ['lib', 'bin', 'packages/server/lib', 'packages/check-store/lib'],
    owners: ['lib/remote/request.ts'],
  },
  {
    kind: 'TLS of databases',
    code: /rejectUnauthorized|checkServerIdentity|verifyIdentity|servername|sentinelTLS|\b(?:tls|ssl): (?!Tls\b|readTls\()/,
    sample: 'const pool = createPool({ host, ssl: { ca } })',
    within: ['lib', 'bin', 'packages/check-store/lib'],
    owners: ['lib/lease/stores/tls.ts'],
  },
  {
    kind: 'values and names in statements of MySQL',
    code: /(?:[=(,]|LIKE|COMMENT) ?'\$\{|`\\`\$\{/,
    sample: `WHERE name = '\${name}'`,
    within: ['lib/lease/stores/mysql'],
    owners: ['lib/lease/stores/mysql/statement.ts'],
  },
]

const isSource = (name) => /\.(?:[cm]?[jt]s|rs)$/.test(name) && !name.endsWith('.d.ts')

const sourcesBelow = (folder) =>
  fs
    .readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isSource(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((name) => !name.includes('/dist/') && !name.includes('/node_modules/'))

/** A source without comments: a comment may name what the code must not do. */
const codeOf = (name) =>
  fs
    .readFileSync(path.join(root, name), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '$1')

for (const { kind, code, sample, within, owners } of CROSSINGS) {
  test(`one owner: ${kind}`, (t) => {
    t.regex(sample, code)
    const crossing = within.flatMap(sourcesBelow).filter((name) => code.test(codeOf(name)))
    t.deepEqual(crossing.sort(), [...owners].sort())
  })
}

test('SECURITY.md names an owner of each kind, or its folder', (t) => {
  const document = fs.readFileSync(path.join(root, '.github', 'SECURITY.md'), 'utf8')
  const named = [...document.matchAll(/`([\w./-]+\/[\w./-]*)`/g)].map(([, name]) => name)
  const isNamed = (owner) => named.some((name) => name === owner || (name.endsWith('/') && owner.startsWith(name)))
  for (const { kind, owners } of CROSSINGS) t.true(owners.some(isNamed), kind)
})
