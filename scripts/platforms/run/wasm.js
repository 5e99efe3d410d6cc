'use strict'

// Runs the WebAssembly: the smoke test with every Node.js that is listed here, and the AVA files that are about it.
// The addon is named, so that the binary of this machine is not run instead.

const path = require('node:path')
const runtimes = require('../../runtimes.js')
const { runCommand } = require('./machines.js')
const { avaResult, smokeResult, versionIn } = require('./results.js')

const MINUTE = 60_000
const AVA = ['node_modules/ava/entrypoints/cli.mjs', '--timeout=5m']
const TESTS = '__test__/package/wasm.test.mjs'

/** Node.js only: Bun and Deno run where there is a binary. */
const isNode = ({ name }) => name.startsWith('node')

/**
 * @param {import('../targets.js').Target} _target
 * @param {string} file the module, in its package
 * @param {string[]} kinds which runs: 'smoke', 'ava'
 */
async function run(_target, file, kinds) {
  const addon = path.join(path.dirname(path.resolve(file)), 'flakeforge.wasi.cjs')
  const env = { ...process.env, ...runtimes.environment, NAPI_RS_NATIVE_LIBRARY_PATH: addon }
  const results = []
  for (const runtime of runtimes.runtimes.filter(isNode)) {
    const node = runtimes.install(runtime)
    const { output } = await runCommand([node, '--version'], { env, timeoutMs: MINUTE })
    const smoke = await runCommand([node, '__test__/smoke.cjs'], { env, timeoutMs: 5 * MINUTE })
    results.push({ program: `Node ${versionIn(output)}`, by: '', what: 'smoke', ...smokeResult(smoke) })
  }
  if (!kinds.includes('ava')) return results
  const ava = await runCommand([process.execPath, ...AVA, TESTS], { env, timeoutMs: 10 * MINUTE })
  results.push({ program: `Node ${process.versions.node}`, by: '', what: 'ava', ...avaResult(ava) })
  return results
}

module.exports = { AVA, run }
