'use strict'

// `npm run build`: the addon, optimised, and its types for lib/. Options are passed to
// `napi build`, as in `npm run build -- --target aarch64-apple-darwin`.

const { execFileSync, spawnSync } = require('node:child_process')
const os = require('node:os')
const path = require('node:path')
const { hashOfSource, recordBuild, TYPES } = require('./built.js')
const { renaming } = require('./own-paths.js')

const root = path.join(__dirname, '..')
const napi = path.join(root, 'node_modules', '@napi-rs', 'cli', 'cli.mjs')
const OPTIONS = ['--platform', '--release', '--no-js', '--dts', TYPES]

/** Whether the result is for this machine: only then does it replace what `npm start` would build. */
function isForThisMachine(args) {
  const i = args.indexOf('--target')
  if (i === -1) return true
  const triple = args[i + 1].replace(/\.\d+\.\d+$/, '') // cargo-zigbuild accepts a glibc version after it
  return execFileSync('rustc', ['-vV'], { encoding: 'utf8' }).includes(`\nhost: ${triple}\n`)
}

/** The environment, with flags that keep this machine's folders out of the addon. A path with a space needs the variable that napi does not change. */
function withoutOwnPaths(env) {
  if (env.CARGO_ENCODED_RUSTFLAGS) return env
  const own = renaming({ checkout: root, cargo: env.CARGO_HOME || path.join(os.homedir(), '.cargo') })
  const flags = [...(env.RUSTFLAGS ?? '').split(' ').filter(Boolean), ...own]
  if (own.some((flag) => flag.includes(' '))) return { ...env, CARGO_ENCODED_RUSTFLAGS: flags.join('\x1f') }
  return { ...env, RUSTFLAGS: flags.join(' ') }
}

const args = process.argv.slice(2)
const source = hashOfSource()
const { status } = spawnSync(process.execPath, [napi, 'build', ...OPTIONS, ...args], {
  cwd: root,
  stdio: 'inherit',
  env: withoutOwnPaths(process.env),
})
if (status === 0 && isForThisMachine(args)) recordBuild(source)
process.exitCode = status ?? 1
