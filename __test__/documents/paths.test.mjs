// Documents name only what exists: every file of this repository that a document names in code or links to, and every
// function that CONTRIBUTING lists for a file. The guides' links are checked when the site is built.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { documentsIn } from '../support/documents.mjs'

const root = path.join(import.meta.dirname, '..', '..')
const read = (name) => readFileSync(path.join(root, name), 'utf8')

/** The paths between backticks, without those with a placeholder such as NAME. */
const named = (text) =>
  [...text.matchAll(/`((?:core|lib|src|bin|packages\/[\w-]+|__test__|lab|scripts|site|types)\/[\w./-]+)`/g)]
    .map(([, name]) => name)
    .filter((name) => !/[A-Z]{4}/.test(name))

/** The links to files, as paths from the root; code contains no links. */
const linked = (text, document) =>
  [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/\]\((?![a-z]+:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(([, href]) =>
    path.posix.join(path.posix.dirname(document), href),
  )

test('every file that a document names or links to exists', (t) => {
  const all = [...documentsIn('.')].flatMap((document) => {
    const text = read(document)
    return [...named(text), ...linked(text, document)].map((name) => ({ document, name }))
  })
  const missing = all.filter(({ name }) => !existsSync(path.join(root, name)))
  t.deepEqual(missing, [])
  t.true(all.length > 300, `only ${all.length}`)
})

test('CONTRIBUTING: every decision is made where the table says', (t) => {
  const rows = [...read('CONTRIBUTING.md').matchAll(/^\|[^|]+\| `([\w./-]+)` \| `(\w+)` \|$/gm)]
  for (const [, file, name] of rows) t.regex(read(file), new RegExp(`\\b${name}\\b`), `${file} has no ${name}`)
  t.true(rows.length >= 10, `only ${rows.length}`)
})

const filesOf = (folder, pattern) =>
  readdirSync(path.join(root, folder), { recursive: folder !== '.' })
    .map((name) => path.posix.join(folder, name.split(path.sep).join('/')))
    .filter((name) => pattern.test(name))

test('what users of the package read names pages by addresses, not by paths of the repository', (t) => {
  const files = filesOf('dist', /\.(?:[cm]?js|d\.[cm]?ts|html)$/)
  const bare = files.flatMap(
    (file) =>
      read(file)
        .replaceAll(/pageOf\)?\(["'`]docs\//g, '')
        .replaceAll('https://github.com/flakeforge/flakeforge/blob/main/docs/', '')
        .match(/.{0,40}\bdocs\/[\w/-]+\.md/g) ?? [],
  )
  t.deepEqual(bare, [])
  t.true(files.length > 20)
  const pages = filesOf('lib', /\.ts$/)
    .concat(filesOf('bin', /\.ts$/))
    .flatMap((file) => [...read(file).matchAll(/pageOf\('([^']+)'\)/g)].map(([, page]) => page))
  t.deepEqual(
    pages.filter((page) => !existsSync(path.join(root, page))),
    [],
  )
  t.true(pages.length >= 7, `only ${pages.length}`)
})

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (file) =>
  [
    ...read(file)
      .replaceAll(/^```.*?^```$/gms, '')
      .matchAll(/^#+ (.+)$/gm),
  ].map(([, heading]) =>
    heading
      .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

/** Why an address on GitHub leads nowhere; undefined if it leads to a file, and to a heading of it. */
function faultOf(address) {
  const [, file = '', anchor] = /\/(?:blob|tree)\/main\/([^#]*?)\/?(?:#(.*))?$/.exec(address) ?? []
  if (file === '' || !existsSync(path.join(root, file))) return 'no such file'
  if (anchor !== undefined && !anchorsOf(file).includes(anchor)) return 'no such heading'
}

test('every address of a file that the packages have, in code, types and READMEs, leads there', (t) => {
  const packages = ['check-store', 'server'].map((name) => `packages/${name}`)
  const files = [
    ...filesOf('.', /^[\w-]+\.d\.ts$/),
    ...filesOf('dist', /\.(?:[cm]?js|d\.[cm]?ts|html)$/),
    ...packages.flatMap((folder) => [`${folder}/README.md`, ...filesOf(`${folder}/dist`, /\.[cm]?js$/)]),
    ...filesOf('packages/server/page', /\.(?:html|ts|tsx)$/),
  ]
  const places = files.flatMap((file) => {
    const addresses =
      read(file).match(/https:\/\/github\.com\/flakeforge\/flakeforge\/(?:blob|tree)\/[^\s"'`)$]+/g) ?? []
    return addresses.map((each) => ({ file, address: each.replace(/[.,;]$/, '') }))
  })
  const pages = filesOf('dist', /\.cjs$/).flatMap((file) =>
    [...read(file).matchAll(/pageOf\)?\("([^"]+)"\)/g)].map(([, page]) => ({ file, address: `/blob/main/${page}` })),
  )
  const named = [...places.filter(({ address }) => !address.endsWith('/main/')), ...pages]
  t.deepEqual(
    named.filter(({ address }) => faultOf(address) !== undefined),
    [],
  )
  t.true(pages.length >= 7 && places.length >= 7, `${pages.length} and ${places.length}`)
  t.is(faultOf('/blob/main/docs/store/quorum.md#no-such-heading'), 'no such heading')
  t.is(faultOf('/blob/main/docs/store/choosing.md#a-new-group'), undefined)
})

test('a message that quotes a section of a page quotes a heading of it', (t) => {
  const quoted = filesOf('lib', /\.ts$/).flatMap((file) =>
    [...read(file).matchAll(/pageOf\('([^']+)'\)\}, ((?:"[^"]+"(?: and |, )?)+)/g)].flatMap(([, page, sections]) =>
      [...sections.matchAll(/"([^"]+)"/g)].map(([, section]) => ({ page, section })),
    ),
  )
  for (const { page, section } of quoted) t.regex(read(page), new RegExp(`^#+ ${section}$`, 'm'))
  t.true(quoted.length >= 2)
})

test('the page of errors lists every warning', (t) => {
  const codes = filesOf('lib', /\.ts$/).flatMap((file) =>
    [...read(file).matchAll(/\bwarn(?:Of)?\(\s*'(FLAKEFORGE_[A-Z_]+)'/g)].map(([, code]) => code),
  )
  const listed = [...read('docs/reference/errors.md').matchAll(/^\| `(FLAKEFORGE_[A-Z_]+)` \|/gm)].map(
    ([, code]) => code,
  )
  t.deepEqual(listed, [...new Set(codes)].sort())
  t.true(listed.length > 8, `only ${listed.length}`)
})
