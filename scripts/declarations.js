'use strict'

// The types of the package: what the entries export, and all that this mentions, out of lib/. tsc writes the declarations of
// every file, and a plugin of rolldown puts those of the entries together, without what no user can reach.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const ROOT = path.join(__dirname, '..')
const DIST = path.join(ROOT, 'dist')
const MADE = path.join(ROOT, 'target', 'declarations')
const TSC = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const FLAGS = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--stripInternal', '--rootDir', ROOT]

/** By the name in dist/: the file in lib/entries/. */
const ENTRIES = {
  ...Object.fromEntries(['index', 'lease', 'codec', 'remote', 'metrics'].map((name) => [name, name])),
  ...{ 'web/index': 'browser', 'web/lease': 'browser-lease', 'web/codec': 'codec', 'web/remote': 'remote' },
  'types/biguint-format': 'biguint-format',
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

/**
 * A namespace, as index.d.ts has one, passes on only what is not exported by `type`. That says something of a class alone.
 */
const PASSED_ON = {
  name: 'passed-on',
  renderChunk: (code) => code.replace(/^export \{.*\};?$/m, (list) => list.replace(/\btype (?!LeasedFlakeId\b)/g, '')),
}

/** `require('flakeforge/biguint-format')` is a function, with its types beside it. */
const FORMAT = {
  'biguint-format.d.cts': `import type * as all from './types/biguint-format.cjs'
declare const format: all.Format
declare namespace format {
  export type Base = all.Base
  export type Format = all.Format
  export type Options = all.Options
}
export = format
`,
  'biguint-format.d.mts': `import type { Format } from './types/biguint-format.cjs'
export type { Base, Format, Options } from './types/biguint-format.cjs'
declare const format: Format
export default format
`,
}

/**
 * The types for `import` are those for `require`: if each were declared for itself, no function of one kind of module would
 * take a generator of the other, because of the private fields.
 */
function typesForImport(name) {
  const from = `'./${path.posix.basename(name)}.cjs'`
  const named = `export * from ${from}\n`
  return name.endsWith('index') ? `${named}export { FlakeId as default } from ${from}\n` : named
}

/** Writes the types of all entries, for `require` and for `import`. */
async function writeDeclarations() {
  const { build } = await import('rolldown')
  const { dts } = await import('rolldown-plugin-dts')
  fs.rmSync(MADE, { recursive: true, force: true })
  execFileSync(process.execPath, [TSC, '-p', ROOT, ...FLAGS, '--outDir', MADE], { cwd: ROOT, stdio: 'inherit' })
  fs.mkdirSync(path.join(MADE, 'target'))
  fs.copyFileSync(path.join(ROOT, 'target', 'native.d.ts'), path.join(MADE, 'target', 'native.d.ts'))
  const input = Object.entries(ENTRIES).map(([name, file]) => [name, path.join(MADE, 'lib', 'entries', `${file}.d.ts`)])
  await build({
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
  const ofImport = Object.keys(ENTRIES)
    .filter((name) => !name.startsWith('types/'))
    .map((name) => [`${name}.d.mts`, typesForImport(name)])
  for (const [file, text] of [...ofImport, ...Object.entries(FORMAT)]) fs.writeFileSync(path.join(DIST, file), text)
}

module.exports = { writeDeclarations }
