'use strict'

// Runs one script with every JavaScript runtime we promise to work on: `node scripts/runtimes.js __test__/smoke.cjs`.
// The runtimes come as npm packages that contain just the program, and go to target/runtimes/<name>. They are not
// devDependencies, because a `node` in node_modules/.bin would replace the real one in every npm script.

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const { platform, arch } = process
const bunArch = arch === 'arm64' ? 'aarch64' : arch
const denoPlatform = platform === 'linux' ? `linux-${arch}-glibc` : `${platform}-${arch}`

/** Node.js of one major version. */
const node = (major) => ({
  name: `node-${major}`,
  package: `node-${platform}-${arch}`,
  range: major,
  program: 'bin/node',
})

const runtimes = [
  node(20),
  node(22),
  node(24),
  { name: 'bun', package: `@oven/bun-${platform}-${bunArch}`, range: 1, program: 'bin/bun' },
  // Otherwise Deno asks before it loads native code, and nobody answers.
  { name: 'deno', package: `@deno/${denoPlatform}`, range: 2, program: 'deno', args: ['run', '--allow-all'] },
]

const root = path.join(__dirname, '..', 'target', 'runtimes')

/** Installs a runtime if it is missing, and returns the path of its program. */
function install(runtime) {
  const prefix = path.join(root, runtime.name)
  const program = path.join(prefix, 'node_modules', runtime.package, runtime.program)
  if (fs.existsSync(program)) return program
  fs.mkdirSync(prefix, { recursive: true })
  const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const what = `${runtime.package}@${runtime.range}`
  execFileSync('npm', ['install', '--prefix', prefix, ...flags, what], { stdio: ['ignore', 'ignore', 'inherit'] })
  return program
}

/** Runs the program and returns its output as one string, and whether it succeeded. */
function run(program, args) {
  const env = { ...process.env, DENO_DIR: path.join(root, 'deno-cache'), DENO_NO_UPDATE_CHECK: '1' }
  // A crash in native code ends in a signal, a hang in the timeout: both leave status null.
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, { env, encoding: 'utf8', timeout: 60_000 })
  const reason = signal ? `killed by ${signal}` : error ? error.message : ''
  return { ok: status === 0, output: `${stdout ?? ''}${stderr ?? ''}${reason}`.trim() }
}

function main() {
  const [script] = process.argv.slice(2)
  if (!script) {
    console.error('usage: node scripts/runtimes.js SCRIPT')
    return 2
  }
  if (!['linux', 'darwin'].includes(platform)) {
    console.error(`scripts/runtimes.js knows the packages for Linux (glibc) and macOS, not for ${platform}`)
    return 2
  }
  let failed = 0
  for (const runtime of runtimes) {
    let version = ''
    let result
    try {
      const program = install(runtime)
      version = run(program, ['--version']).output.match(/\d+\.\d+\.\d+/)?.[0] ?? '?'
      result = run(program, [...(runtime.args ?? []), path.resolve(script)])
    } catch (error) {
      result = { ok: false, output: error.message }
    }
    console.log(`${runtime.name.padEnd(8)} ${version.padEnd(9)} ${result.ok ? 'ok' : 'FAILED'}`)
    if (!result.ok) {
      failed++
      console.log(result.output.replace(/^/gm, '    '))
    }
  }
  return failed ? 1 : 0
}

/** The program of a supported runtime, by its name here: 'bun', 'deno', 'node-20'. */
const programOf = (name) => install(runtimes.find((runtime) => runtime.name === name))

module.exports = { install, node, programOf }

if (require.main === module) process.exitCode = main()
