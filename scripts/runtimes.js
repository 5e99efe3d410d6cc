'use strict'

// Runs one script with every supported JavaScript runtime: `node scripts/runtimes.js __test__/smoke.cjs`. The runtimes
// are npm packages that contain just the program, and go to target/runtimes/<name>. They are not devDependencies,
// because a `node` in node_modules/.bin would replace the real one in every npm script.

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const { platform, arch } = process
const bunArch = arch === 'arm64' ? 'aarch64' : arch
const denoPlatform = platform === 'linux' ? `linux-${arch}-glibc` : `${platform}-${arch}`

/** Node.js of one major version, for this platform or another. */
const node = (major, where = `${platform}-${arch}`) => ({
  name: `node-${major}`,
  package: `node-${where}`,
  range: major,
  program: 'bin/node',
})

const runtimes = [
  node(20),
  node(22),
  node(24),
  // npm has no newer Node.js for macOS on arm64.
  ...(platform === 'linux' ? [node(25), node(26)] : []),
  { name: 'bun', package: `@oven/bun-${platform}-${bunArch}`, range: 1, program: 'bin/bun' },
  // Otherwise Deno asks before it loads native code, and gets no answer.
  { name: 'deno', package: `@deno/${denoPlatform}`, range: 2, program: 'deno', args: ['run', '--allow-all'] },
]

const root = path.join(__dirname, '..', 'target', 'runtimes')

/** Where a runtime's program is in the folder that it was installed into. */
const programIn = (runtime) => path.join('node_modules', runtime.package, runtime.program)

/** Installs a runtime if it is missing, and returns the path of its program. */
function install(runtime, prefix = path.join(root, runtime.name)) {
  const program = path.join(prefix, programIn(runtime))
  if (fs.existsSync(program)) return program
  fs.mkdirSync(prefix, { recursive: true })
  const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  flags.push('--force') // npm refuses a package for another platform otherwise
  const what = `${runtime.package}@${runtime.range}`
  execFileSync('npm', ['install', '--prefix', prefix, ...flags, what], { stdio: ['ignore', 'ignore', 'inherit'] })
  return program
}

/** The flags that a runtime needs. */
const environment = { DENO_DIR: path.join(root, 'deno-cache'), DENO_NO_UPDATE_CHECK: '1' }

/** Runs the program and returns its output as one string, and whether it succeeded. */
function run(program, args) {
  const env = { ...process.env, ...environment }
  // A crash in native code ends in a signal, a hang in the timeout, which also sends a signal: both leave status null.
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, { env, encoding: 'utf8', timeout: 60_000 })
  const reason = error ? error.message : signal ? `killed by ${signal}` : ''
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

module.exports = { environment, install, node, programIn, programOf, runtimes }

if (require.main === module) process.exitCode = main()
