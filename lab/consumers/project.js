// A user's project: a fixture folder, copied to target/consumers/, with its locked packages and the packed tarballs of
// flakeforge installed. It has no link to this repository: the project has only the contents of the tarballs.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { npm, packAll } = require('../../scripts/pack.js')

const target = path.join(__dirname, '..', '..', 'target', 'consumers')
const PACKAGES = ['package.json', 'package-lock.json']
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error']

/** Variables that `npm test` and the CI set for our own programs must not reach those of a project. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm_|FLAKEFORGE_)/i.test(name)))

let tarballs

/** The two tarballs, packed once in each run. */
function packed() {
  if (tarballs === undefined) {
    const folder = path.join(target, 'tarballs')
    fs.rmSync(folder, { recursive: true, force: true })
    tarballs = packAll(folder)
  }
  return tarballs
}

/** Whether node_modules matches the lock file. */
function isInstalled(folder) {
  const copy = path.join(folder, 'node_modules', '.lock-of-the-fixture')
  if (!fs.existsSync(copy)) return false
  return fs.readFileSync(copy, 'utf8') === fs.readFileSync(path.join(folder, 'package-lock.json'), 'utf8')
}

/** Installs the locked packages, unless they are left from the last run, and then the present flakeforge. */
function install(folder) {
  if (!isInstalled(folder)) {
    npm(['ci', '--ignore-scripts', ...QUIET], folder)
    fs.copyFileSync(path.join(folder, 'package-lock.json'), path.join(folder, 'node_modules', '.lock-of-the-fixture'))
  }
  const modules = path.join(folder, 'node_modules')
  for (const name of ['flakeforge', 'flakeforge-server', '@flakeforge'])
    fs.rmSync(path.join(modules, name), { recursive: true, force: true }) // of the fixture before this one
  for (const tarball of Object.values(packed())) unpack(tarball, folder)
}

/** Unpacks a tarball where npm would put it. npm itself would check the whole tree again, which takes seconds. */
function unpack(tarball, folder) {
  const temp = fs.mkdtempSync(path.join(target, 'unpack-'))
  const { status, stderr } = spawnSync('tar', ['-xzf', tarball, '-C', temp], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const from = path.join(temp, 'package')
  const { name } = JSON.parse(fs.readFileSync(path.join(from, 'package.json'), 'utf8'))
  const to = path.join(folder, 'node_modules', name)
  fs.rmSync(to, { recursive: true, force: true })
  fs.mkdirSync(path.dirname(to), { recursive: true }) // the scope
  fs.renameSync(from, to)
  fs.rmSync(temp, { recursive: true })
}

/**
 * A fresh copy of a fixture with everything installed. Those without a package.json are all tried in one folder, one
 * after the other, with the packages of lab/consumers/package.json.
 * @param {string} fixture the fixture's folder
 * @returns {string} the project's folder
 */
function project(fixture) {
  const isAlone = fs.existsSync(path.join(fixture, 'package.json'))
  const folder = path.join(target, isAlone ? path.basename(fixture) : 'project')
  fs.mkdirSync(folder, { recursive: true })
  for (const name of fs.readdirSync(folder))
    if (name !== 'node_modules') fs.rmSync(path.join(folder, name), { recursive: true })
  fs.cpSync(fixture, folder, { recursive: true })
  if (!isAlone) for (const name of PACKAGES) fs.copyFileSync(path.join(__dirname, name), path.join(folder, name))
  install(folder)
  return folder
}

/** Runs a program in a project: whether it succeeded, and its output. */
function run(program, args, cwd, more = {}) {
  const options = { cwd, encoding: 'utf8', timeout: 300_000, ...more, env: { ...env, ...more.env } }
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, options)
  const reason = signal ? `killed by ${signal}` : error ? error.message : ''
  return { ok: status === 0, status, stdout: stdout ?? '', output: `${stdout ?? ''}${stderr ?? ''}${reason}`.trim() }
}

module.exports = { env, packed, project, run }
