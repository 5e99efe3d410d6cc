// Where no binary is installed, the package of the WebAssembly takes its place, with one warning. Here this machine's
// addon replaces the contents of that package: scripts/platforms runs the WebAssembly itself.

import fs from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { failureOf, Install, platformPackage } from '../support/load.mjs'

const WASM = '@flakeforge/binding-wasm32-wasi'
const ID = `console.log(new (require('flakeforge'))().next().length)`

/** Writes a package of one CommonJS file into the project, or into another folder of node_modules. */
function addPackage(modules, name, code) {
  const folder = path.join(modules, name)
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name, version: '0.0.0', main: 'main.cjs' }))
  fs.writeFileSync(path.join(folder, 'main.cjs'), code)
  return folder
}

/** A project whose platform package is missing. */
function bare(t) {
  const install = new Install(t)
  install.modules = path.join(install.folder, 'node_modules')
  install.binary = path.join(install.folder, 'binary.node')
  fs.renameSync(install.addon, install.binary)
  fs.rmSync(install.platform, { recursive: true })
  return install
}

/** The file of the package with the WebAssembly: it exports what the addon does. */
const exportsAddon = ({ binary }) => `process.dlopen(module, ${JSON.stringify(binary)})`

/** How often a program has warned; there was no other error. */
function warnings(t, { code, stderr }) {
  t.is(code, 0, stderr)
  return stderr.split('\n').filter((line) => line.includes('[FLAKEFORGE_WASM]')).length
}

test('the WebAssembly takes the place of a binary that is not installed, with a warning', async (t) => {
  const install = bare(t)
  addPackage(install.modules, WASM, exportsAddon(install))
  const outcome = await install.node('--eval', ID)
  t.is(outcome.stdout, '8\n')
  t.is(warnings(t, outcome), 1)
  const target = platformPackage.replace('@flakeforge/binding-', '')
  t.regex(outcome.stderr, new RegExp(`No binary for ${target} is installed, so .* WebAssembly, which is slower`))
})

test('it warns once, also if worker threads load it', async (t) => {
  const install = bare(t)
  addPackage(install.modules, WASM, exportsAddon(install))
  const work = `new (require('node:worker_threads').Worker)(${JSON.stringify(ID)}, { eval: true })`
  const outcome = await install.node('--eval', `${ID};${work};${work}`)
  t.is(outcome.stdout, '8\n8\n8\n')
  t.is(warnings(t, outcome), 1)
})

for (const selector of ['@flakeforge/binding-other-cpu', '@flakeforge/binding-other-os']) {
  test(`${selector} installs it where packages are isolated`, async (t) => {
    const install = bare(t)
    const folder = addPackage(install.modules, selector, `module.exports = require('${WASM}')`)
    addPackage(path.join(folder, 'node_modules'), WASM, exportsAddon(install))
    const outcome = await install.node('--eval', ID)
    t.is(outcome.stdout, '8\n')
    t.is(warnings(t, outcome), 1)
  })
}

test('a binary takes precedence over the WebAssembly, without a warning', async (t) => {
  const install = new Install(t)
  addPackage(path.join(install.folder, 'node_modules'), WASM, `throw new Error('must not be loaded')`)
  const outcome = await install.node('--eval', ID)
  t.is(outcome.stdout, '8\n')
  t.is(warnings(t, outcome), 0)
})

test('a binary that does not load is still an error: the WebAssembly is not tried', async (t) => {
  const install = new Install(t)
  addPackage(path.join(install.folder, 'node_modules'), WASM, `console.log('loaded')`)
  fs.writeFileSync(install.addon, 'damaged')
  const outcome = await install.node('--eval', ID)
  t.is(outcome.stdout, '')
  t.regex(failureOf(outcome).message, /The file is damaged/)
})

test('WebAssembly that does not load gives the reason', async (t) => {
  const install = bare(t)
  addPackage(install.modules, WASM, `throw new Error('no threads here')`)
  const { code, message } = failureOf(await install.node('--eval', ID))
  t.is(code, 'ERR_FLAKE_LOAD')
  t.regex(message, /No binary for .* is installed, and the WebAssembly does not load: no threads here\. /)
})

test('WebAssembly that lacks one of its own files is not reported as missing', async (t) => {
  const install = bare(t)
  addPackage(install.modules, WASM, `require('./start.cjs')`)
  const { message } = failureOf(await install.node('--eval', ID))
  t.regex(message, /the WebAssembly does not load: Cannot find module '\.\/start\.cjs'/)
  t.notRegex(message, /not installed/)
})

test('chosen explicitly, it causes no warning', async (t) => {
  const install = new Install(t)
  const folder = addPackage(path.join(install.folder, 'node_modules'), WASM, exportsAddon({ binary: install.addon }))
  const env = { NAPI_RS_NATIVE_LIBRARY_PATH: path.join(folder, 'main.cjs') }
  const outcome = await install.run(process.execPath, ['--eval', ID], env)
  t.is(outcome.stdout, '8\n')
  t.is(warnings(t, outcome), 0)
})
