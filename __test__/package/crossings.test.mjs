// Whatever is not ours (a file, a statement, a certificate, another program's text) is reached through one module, which
// finds out once what it really is: SECURITY.md names these owners. A row is one kind of crossing. Its test fails when
// another file crosses by itself.

import fs from 'node:fs'
import path from 'node:path'
import test from 'ava'

const root = path.join(import.meta.dirname, '..', '..')

/**
 * `code`: what a crossing looks like. `sample`: lines that cross, so that the pattern is known to find them. `within`:
 * the folders that are searched. `owners`: the files that may cross; each of them does, or its entry here is stale.
 */
const CROSSINGS = [
  {
    kind: 'outgoing HTTP',
    code: /\bfetch(?:\?\.)?\(|\bfetch\??\.(?:call|apply|bind)\b|\bhttps?\.(?:request|get)\(|['"](?:node:)?(?:http2|undici)['"]|\bXMLHttpRequest\b|\bnew (?:WebSocket|EventSource)\b|\bsendBeacon\(/,
    sample: [
      'const response = await fetch(url)',
      'this.#fetch(url)',
      'globalThis.fetch(url)',
      'options.fetch?.(url)',
      'fetch.call(undefined, url)',
      'https.request(url)',
      "import http2 from 'node:http2'",
      "require('undici')",
      'new WebSocket(url)',
    ],
    within: ['lib', 'bin', 'packages/server/lib', 'packages/check-store/lib'],
    owners: ['lib/base/exchange.ts'],
  },
  {
    kind: 'warnings',
    code: /\bemitWarning\b/,
    sample: ["process.emitWarning(message, { code: 'FLAKEFORGE_X' })", 'const { emitWarning } = process'],
    within: ['lib', 'bin', 'packages/server/lib', 'packages/check-store/lib'],
    owners: ['lib/base/errors/foreign.ts'],
  },
  {
    // Other files take them through said(). In these files they are messages of our own errors.
    kind: 'words of others',
    code: /\$\{(?!(?:errors\.)?said\()[^{}]*\b(?:message|sqlMessage)\b[^{}]*\}/,
    sample: [`Redis: \${error.message}`, `PostgreSQL: \${message}`, `(\${cause?.message || cause.code})`],
    within: ['lib'],
    owners: ['foreign', 'leases', 'options', 'remote', 'stores'].map((name) => `lib/base/errors/${name}.ts`),
  },
  {
    kind: 'loading of code that is not named in the source',
    code: /createRequire\(|\.dlopen\(|\bimport\((?!['"])|\brequire\((?!['"])/,
    sample: 'const client = require(name)',
    within: ['lib', 'bin', 'packages/server/lib', 'packages/check-store/lib'],
    owners: ['lib/native/addon.ts', 'lib/native/packages/search.ts', 'packages/check-store/lib/child.ts'],
  },
  {
    kind: 'a function of the addon whose panic would end the process: all have `catch_unwind`',
    code: /#\[napi(?:\((?:constructor|getter|setter|factory)\))?\]\s+pub (?:unsafe )?fn/,
    sample: '#[napi(getter)]\n    pub fn index(&self) -> u32 {',
    within: ['src'],
    owners: [],
  },
  {
    kind: 'raw functions of Node-API',
    code: /sys::napi_(?:create_function|get_cb_info|get_typedarray_info)/,
    sample: 'sys::napi_create_function(env, name, length, Some(callback), data, &mut function)',
    within: ['src'],
    owners: ['src/hot.rs', 'src/places.rs'],
  },
  {
    kind: 'threads of the addon',
    code: /\bAsyncTask\b|\basync_work\b|\bthread::(?:spawn|Builder|scope)/,
    sample: ['AsyncTask::new(call)', 'std::thread::spawn(move || call())'],
    within: ['src'],
    owners: ['src/disk.rs'],
  },
  {
    kind: "the system's loader",
    code: /\blibc::(?:dl|RTLD)|\b_dyld_|GetModuleHandle/,
    sample: 'libc::dlopen(path.as_ptr(), libc::RTLD_LAZY)',
    within: ['core/src', 'src'],
    owners: ['src/copies.rs'],
  },
  {
    kind: 'values that JavaScript passes to the addon',
    code: /FromNapiValue for/,
    sample: 'impl<T: TryFrom<i64>> FromNapiValue for Whole<T> {',
    within: ['src'],
    owners: ['src/number.rs'],
  },
  {
    kind: 'listening',
    code: /\.listen\(/,
    sample: 'await app.listen({ port, host })',
    within: ['lib', 'bin', 'packages/server/lib'],
    owners: ['packages/server/lib/http/listen.ts'],
  },
  {
    kind: 'files that the configuration of the ID service names',
    code: /\b(?:readFile|readFileSync|openSync)\(/,
    sample: "return readFileSync(file, 'utf8')",
    within: ['packages/server/lib'],
    owners: ['packages/server/lib/config/files.ts', 'packages/server/lib/routes/page.ts'],
  },
  {
    kind: 'files that the address of a store names',
    code: /\b(?:readFile|readFileSync|openSync)\(/,
    sample: "return readFileSync(file, 'utf8')",
    within: ['lib/lease', 'lib/stores'],
    // client-packages reads the manifest of a package that was found, and container a file of the system
    owners: ['lib/stores/tls.ts', 'lib/stores/client-packages.ts', 'lib/stores/container.ts'],
  },
  {
    kind: "an error's words in an answer of the ID service",
    code: /\bmessage\b/,
    sample: 'throw new Problem(503, code, error.message)',
    within: ['packages/server/lib/http', 'packages/server/lib/routes'],
    // serve's log is for the operator; an ID that cannot be read is the client's own text
    owners: ['packages/server/lib/http/problems.ts', 'packages/server/lib/routes/names.ts'],
  },
  {
    // Clients are sent nothing but an Sql, which only its own file makes.
    kind: 'SQL for PostgreSQL',
    code: /new Sql\(|extends Sql\b|as unknown as Sql\b/,
    sample: 'const statement = new Sql(text)',
    within: ['lib', 'bin', 'packages/server/lib', 'packages/check-store/lib'],
    owners: ['lib/stores/postgres/statement.ts'],
  },
  {
    kind: 'statements sent to PostgreSQL',
    code: /\.unsafe\(|\bclient\.query\(/,
    sample: 'await client.query(text)',
    within: ['lib', 'bin', 'packages/server/lib', 'packages/check-store/lib'],
    owners: ['lib/stores/postgres/packages.ts'],
  },
  {
    // Words of statements in a text of ours: a template that is tagged sql`` is the builder's.
    kind: 'SQL in a plain text, for PostgreSQL',
    code: /(?<!\bsql)`\s*(?:--[^`]*\n)?\s*(?:SELECT|INSERT|UPDATE|WITH|CREATE|ALTER|DROP|DO|GRANT|REVOKE|COMMENT|LOCK|SET)\s[^`]|['"](?:SELECT|INSERT INTO|CREATE|ALTER TABLE|DROP|DO)\s/,
    sample: 'const text = `SELECT now()`',
    within: ['lib/stores/postgres'],
    owners: [],
  },
  {
    kind: 'folders and files of the core and the addon',
    code: /\bfs::[a-z_]+\b|\bFile::(?:open|create|options)|\bOpenOptions\b|\blibc::(?:open|mkdir|link|unlink|rename|stat)/,
    sample: 'let folder = std::fs::create_dir(path)?;',
    within: ['core/src', 'src'],
    owners: [
      'core/src/files/boot.rs', // the kernel's file with the ID of the boot
      'core/src/files/filesystem.rs', // what an open descriptor is on
      'core/src/files/folder.rs',
      'core/src/files/folder/elsewhere.rs',
      'core/src/files/folder/unix.rs',
      'src/wasm_sign.rs', // the descriptors of this process, in /proc
    ],
  },
  {
    // A way out says which option of an address to use: no client gets it.
    kind: 'TLS of databases',
    code: /rejectUnauthorized|checkServerIdentity|verifyIdentity|servername|sentinelTLS|\b(?:tls|ssl): (?!Tls\b|readTls\(|byScheme\b|'\?)/,
    sample: ['const pool = createPool({ host, ssl: { ca } })', "postgres(url, { ssl: 'require' })"],
    within: ['lib', 'bin', 'packages/check-store/lib'],
    owners: ['lib/stores/tls.ts'],
  },
  {
    kind: 'IDs of the past',
    code: /\bnew (?:native\.)?Backfill\(/,
    sample: ['new native.Backfill(layout, nodes)', 'new Backfill(layout, nodes)'],
    within: ['lib', 'bin', 'packages/server/lib', 'packages/check-store/lib'],
    owners: ['lib/lease/past-ids.ts'],
  },
  {
    kind: 'labels of a list of stores',
    code: /\blabels\[|\blabelOf\(/,
    sample: ['labelFor(store, at, labels[at])', 'const label = labelOf(address)'],
    within: ['lib', 'bin', 'packages/server/lib', 'packages/check-store/lib'],
    owners: ['lib/stores/quorum/list.ts'],
  },
  {
    kind: 'values and names in statements of MySQL',
    code: /(?:[=(,]|LIKE|COMMENT) ?'\$\{|`\\`\$\{/,
    sample: `WHERE name = '\${name}'`,
    within: ['lib/stores/mysql'],
    owners: ['lib/stores/mysql/statement.ts'],
  },
]

const isSource = (name) => /\.(?:[cm]?[jt]s|rs)$/.test(name) && !name.endsWith('.d.ts')

const sourcesBelow = (folder) =>
  fs
    .readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isSource(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((name) => !name.endsWith('/tests.rs') && !name.includes('/dist/') && !name.includes('/node_modules/'))

/** A source without comments: a comment may name what the code must not do. */
const codeOf = (name) =>
  fs
    .readFileSync(path.join(root, name), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '$1')

for (const { kind, code, sample, within, owners } of CROSSINGS) {
  test(`one owner: ${kind}`, (t) => {
    for (const line of [sample].flat()) t.regex(line, code)
    const crossing = within.flatMap(sourcesBelow).filter((name) => code.test(codeOf(name)))
    t.deepEqual(crossing.sort(), [...owners].sort())
  })
}

test('SECURITY.md names an owner of each kind, or its folder', (t) => {
  const document = fs.readFileSync(path.join(root, '.github', 'SECURITY.md'), 'utf8')
  const named = [...document.matchAll(/`([\w./-]+\/[\w./-]*)`/g)].map(([, name]) => name)
  const isNamed = (owner) => named.some((name) => name === owner || (name.endsWith('/') && owner.startsWith(name)))
  const crossed = CROSSINGS.filter(({ owners }) => owners.length > 0) // the others may nobody cross
  for (const { kind, owners } of crossed) t.true(owners.some(isNamed), kind)
})
