// THIRD-PARTY in the platforms' packages: Cargo lists the crates that are compiled in, deny.toml the licences that they
// may have.

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'
import esbuild from 'esbuild'

const require = createRequire(import.meta.url)
const { FILE, noticesFor } = require('../../scripts/notices.js')
const { allPackages, writeTexts } = require('../../scripts/pack.js')
const { buildPage } = require('../../scripts/page/build.js')
const { TARGETS } = require('../../scripts/platforms/targets.js')

const root = path.join(import.meta.dirname, '..', '..')
const [, allowed] = /^allow = \[(.*)\]$/m.exec(fs.readFileSync(path.join(root, 'scripts', 'deny.toml'), 'utf8'))
const ALLOWED = JSON.parse(`[${allowed}]`)

/** What Cargo compiles into the addon of a target: `name version`. */
function cratesOf(triple) {
  const args = ['tree', '--quiet', '--locked', '-p', 'flakeforge', '--target', triple, '-e', 'normal,no-proc-macro']
  const lines = execFileSync('cargo', [...args, '--prefix', 'none'], { cwd: root, encoding: 'utf8' }).split('\n')
  const crates = lines.filter(Boolean).map((line) => line.split(' ').slice(0, 2).join(' ').replace(' v', ' '))
  return [...new Set(crates)].filter((crate) => !/^flakeforge/.test(crate))
}

/** The sections by their titles. */
const sectionsOf = (text) =>
  new Map(
    text
      .split(/^-{80}\n/m)
      .slice(1)
      .map((section) => {
        const [title, license, ...rest] = section.split('\n')
        return [title, { license, text: rest.join('\n') }]
      }),
  )

for (const { name, triple } of TARGETS.filter(({ build }) => build !== 'mingw')) {
  test(`every crate in the binary for ${name} is in its notices, with an allowed licence and its text`, (t) => {
    const sections = sectionsOf(noticesFor(triple))
    const crates = cratesOf(triple)
    t.true(crates.length > 30)
    for (const crate of crates) {
      const { license, text } = sections.get(crate) ?? {}
      t.truthy(text, crate)
      t.true(
        ALLOWED.some((one) => license.split(/[^\w.-]+/).includes(one)),
        `${crate}: ${license}`,
      )
      t.regex(text, /copyright/i, crate)
      t.true(text.length > 500, crate)
    }
    const more = [...sections.keys()].filter((title) => !crates.includes(title))
    const emnapi = more.filter((title) => title.startsWith('@emnapi/'))
    t.is(emnapi.length, name.startsWith('wasm') ? 3 : 0)
    t.deepEqual(more.length - emnapi.length, 1, 'and Rust’s own library')
  })
}

test('each package with a binary has the file, and lists it', async (t) => {
  for (const { folder, manifest } of allPackages()) {
    const isBinary = !path.basename(folder).startsWith('other-')
    t.is(manifest.files.includes(FILE), isBinary, manifest.name)
  }
  const [own] = allPackages().filter(({ folder }) => path.basename(folder) === 'linux-x64-musl')
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-notices-'))
  t.teardown(() => fs.rmSync(copy, { recursive: true }))
  writeTexts({ folder: copy, manifest: own.manifest })
  t.is(fs.readFileSync(path.join(copy, FILE), 'utf8'), noticesFor('x86_64-unknown-linux-musl'))
})

test('the page of the server contains only our own code, so its licence is that of the package', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-page-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  let inputs = []
  const build = async (options) => {
    const built = await esbuild.build({ ...options, metafile: true })
    inputs = Object.keys(built.metafile.inputs)
    return built
  }
  await buildPage({ build }, folder)
  t.true(inputs.length > 5)
  t.deepEqual(
    inputs.filter((file) => /node_modules|^\.\./.test(path.relative(root, path.resolve(file)))),
    [],
  )
})
