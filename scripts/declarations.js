'use strict'

// The types of the package: what the entries export, and all that this mentions, out of lib/. tsc writes the declarations of
// every file, and a plugin of rolldown puts those of the entries together, without what no user can reach.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { ENTRIES: ALL, IMPORTED, OTHER_IN_WEB, WEB } = require('./entries.js')

const ROOT = path.join(__dirname, '..')
const DIST = path.join(ROOT, 'dist')
const MADE = path.join(ROOT, 'target', 'declarations')
const TSC = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const FLAGS = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--stripInternal', '--rootDir', ROOT]

const NAMED = IMPORTED.filter((name) => name !== 'index')

/** What `require` gives for these is a class or a function: their types are written below. */
const OWN_TYPES = ALL.map(({ name }) => name).filter((name) => !NAMED.includes(name))

/** By the name in dist/: the file in lib/entries/. */
const ENTRIES = {
  ...Object.fromEntries(NAMED.map((name) => [name, name])),
  ...Object.fromEntries(OTHER_IN_WEB.map(({ name, web }) => [`web/${name}`, web])),
  ...Object.fromEntries(OWN_TYPES.map((name) => [`types/${name}`, name])),
}

/**
 * The types for `import`, and which of those for `require` they pass on: if each were declared for itself, no function of one kind
 * of module would take a generator of the other, because of the private fields.
 */
const FOR_IMPORT = {
  'index.d.mts': './types/index.cjs',
  ...Object.fromEntries(NAMED.map((name) => [`${name}.d.mts`, `./${name}.cjs`])),
  ...Object.fromEntries(WEB.map(({ name, web }) => [`web/${name}.d.ts`, `${web === name ? '..' : '.'}/${name}.cjs`])),
}

/** What a file needs that a project may not have by itself. */
function needs({ modules }) {
  const code = Object.values(modules)
    .map((module) => module.code)
    .join('\n')
  const lines = [
    ...(/\b(?:Buffer|NodeJS)\b/.test(code) ? ['/// <reference types="node" />'] : []),
    ...(code.includes('Symbol.asyncDispose') ? ['/// <reference lib="esnext.disposable" />'] : []),
  ]
  return lines.join('\n')
}

/** A namespace passes on only what is not exported by `type`. That says nothing of interfaces and of names for types. */
const PASSED_ON = {
  name: 'passed-on',
  renderChunk: (code) => code.replace(/^export \{.*\};?$/m, (list) => list.replace(/\btype /g, '')),
}

/** `require('flakeforge')` is the class, with every other export as a property of it. */
function typesOfClass(names) {
  const others = names.filter((name) => name !== 'FlakeId' && name !== 'default').sort()
  return `import * as all from './types/index.cjs'

/**
 * Makes 64-bit IDs that are unique and ordered by time, without coordination: {@link all.FlakeId}.
 *
 * @example
 * const FlakeId = require('flakeforge')
 * const flake = new FlakeId({ datacenter: 9, worker: 7 })
 * flake.next()       // <Buffer 68 7e 48 89 89 12 70 00>
 * flake.nextString() // '7529535382561648640'
 */
declare class FlakeId<const L extends all.AnyLayout = any> extends all.FlakeId<L> {}

declare namespace FlakeId {
  export { FlakeId, FlakeId as default }
${others.map((name) => `  export import ${name} = all.${name}\n`).join('')}}

export = FlakeId
`
}

/** `require('flakeforge/biguint-format')` is a function, with its types beside it. */
const FORMAT = `import type * as all from './types/biguint-format.cjs'
declare const format: all.Format
declare namespace format {
  export type Base = all.Base
  export type Format = all.Format
  export type Options = all.Options
}
export = format
`

/** The main entry has a default export, which `export *` leaves out. */
const passedOn = (from) =>
  `export * from '${from}'\n${/\bindex\b/.test(from) ? `export { FlakeId as default } from '${from}'\n` : ''}`

/** Writes the types of all entries, for `require` and for `import`. */
async function writeDeclarations() {
  const { build } = await import('rolldown')
  const { dts } = await import('rolldown-plugin-dts')
  fs.rmSync(MADE, { recursive: true, force: true })
  execFileSync(process.execPath, [TSC, '-p', ROOT, ...FLAGS, '--outDir', MADE], { cwd: ROOT, stdio: 'inherit' })
  fs.mkdirSync(path.join(MADE, 'target'))
  fs.copyFileSync(path.join(ROOT, 'target', 'native.d.ts'), path.join(MADE, 'target', 'native.d.ts'))
  const input = Object.entries(ENTRIES).map(([name, file]) => [name, path.join(MADE, 'lib', 'entries', `${file}.d.ts`)])
  const { output } = await build({
    input: Object.fromEntries(input),
    plugins: [dts({ dtsInput: true, emitDtsOnly: true }), PASSED_ON],
    output: {
      dir: DIST,
      format: 'es',
      entryFileNames: '[name].cts',
      chunkFileNames: 'types/[name].d.cts',
      banner: needs,
    },
    checks: { pluginTimings: false },
  })
  const main = output.find(({ name }) => name?.startsWith('types/index'))
  const forImport = Object.entries(FOR_IMPORT).map(([file, from]) => [file, passedOn(from)])
  const others = { 'index.d.cts': typesOfClass(main.exports), 'biguint-format.d.cts': FORMAT }
  for (const [file, text] of [...forImport, ...Object.entries(others)]) fs.writeFileSync(path.join(DIST, file), text)
}

module.exports = { writeDeclarations }
