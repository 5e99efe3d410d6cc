'use strict'

// The build root: a Debian with every compiler and emulator that the platforms need, made once, kept in a cache and shared
// by all clones. Its name has a hash of what is in it, so another list of packages is another root beside the first.
// Nobody must see half a root: it is made beside its place, under a lock, and renamed. And no mount must outlive a command:
// each runs in a mount namespace of its own.

const { spawn, spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const checkout = path.join(__dirname, '..', '..')
const script = path.join(__dirname, 'make-root.sh')
/** Where the checkout stands in the root: the same for every clone. */
const INSIDE = '/flakeforge'

const PACKAGES = [
  // Rust with the source of its standard library, which is compiled for each target. "web" is the newer Rust of a stable Debian.
  'rustc-web',
  'cargo-web',
  'rust-web-src',
  'gcc',
  'libc6-dev',
  'lld',
  'llvm',
  'python3-venv',
  'gcc-mingw-w64-x86-64',
  'gcc-mingw-w64-i686',
  'binutils-mingw-w64-x86-64',
  'mingw-w64-tools',
  'clang',
  'wasi-libc',
  'libclang-rt-dev-wasm32',
  'libc++-dev-wasm32',
  // What looks at a binary: objdump and readelf.
  'binutils',
  // What runs one: emulated processors, Windows, and the Node.js of other machines.
  'qemu-user',
  'wine',
  'wine64',
  'mmdebstrap',
  'nodejs',
]

/** This machine cannot do it: to be shown as a message without a stack. */
class NoRoot extends Error {}

/** The folder of the cache: `$FLAKEFORGE_PLATFORMS`, or the usual place for caches. */
function cacheFolder(env = process.env) {
  if (env.FLAKEFORGE_PLATFORMS) return path.resolve(env.FLAKEFORGE_PLATFORMS)
  return path.join(env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'flakeforge', 'platforms')
}

/** The path of the root that these packages and this script make. */
function rootFolder(env = process.env) {
  const sum = createHash('sha256').update(JSON.stringify(PACKAGES)).update(fs.readFileSync(script))
  return path.join(cacheFolder(env), `root-${sum.digest('hex').slice(0, 12)}`)
}

const isInPath = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** What counts on this machine. */
function thisMachine() {
  return {
    platform: process.platform,
    arch: process.arch,
    isAdmin: process.getuid?.() === 0,
    missing: ['apt-get', 'debootstrap', 'unshare', 'setpriv', 'flock', 'chroot'].filter(
      (program) => !isInPath(program),
    ),
  }
}

/** What Debian's package is called where it is not called like the program. */
const PACKAGE_OF = { unshare: 'util-linux', setpriv: 'util-linux', flock: 'util-linux', chroot: 'coreutils' }

/** Why the machine cannot have a build root, and what to do about it. Undefined if it can. */
function whyNot({ platform, arch, isAdmin, missing }) {
  if (platform !== 'linux' || arch !== 'x64' || missing.includes('apt-get'))
    return `'npm run platforms' builds in a Debian that it installs for itself, and this is ${platform}-${arch}${
      missing.includes('apt-get') ? ' without apt-get' : ''
    }: run it on an x64 machine or in a container with Debian or Ubuntu, as root`
  const needs = []
  if (missing.length > 0) {
    const packages = [...new Set(missing.map((program) => PACKAGE_OF[program] ?? program))].join(' ')
    needs.push(`the command${missing.length > 1 ? 's' : ''} ${missing.join(', ')} (apt-get install ${packages})`)
  }
  if (!isAdmin) needs.push('the rights of root, to mount and to change the root folder (sudo npm run platforms)')
  if (needs.length === 0) return undefined
  return `'npm run platforms' builds in a Debian that it installs for itself, and for that needs ${needs.join(', and ')}`
}

/** This machine's own mirror of Debian. Undefined where it has none: debootstrap knows one. */
function mirror() {
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', '$(ORIGIN)|$(LABEL)|$(REPO_URI)'], {
    encoding: 'utf8',
  })
  return mirrorIn(stdout ?? '')
}

/** The mirror in what apt says about its sources. Debian's security updates have another one. */
function mirrorIn(targets) {
  const rows = targets.split('\n').map((line) => line.split('|'))
  return rows.find(([origin, label]) => origin === 'Debian' && label === 'Debian')?.[2]
}

/** Mounts and processes of its own: when the first process ends, the kernel removes all of them. */
const ALONE = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child']

/** The last lines of a log. */
const endOf = (log) => fs.readFileSync(log, 'utf8').trim().split('\n').slice(-15).join('\n')

/** Makes the root if it is missing, which takes some minutes, and returns its path. `say` gets a line before that. */
function makeRoot(say) {
  const problem = whyNot(thisMachine())
  if (problem) throw new NoRoot(problem)
  const root = rootFolder()
  if (fs.existsSync(root)) return root
  const cache = path.dirname(root)
  fs.mkdirSync(cache, { recursive: true })
  const log = `${root}.log`
  say(`making the build root ${root}, once: some minutes, 4 GB. What it prints is in ${log}`)
  const older = fs.readdirSync(cache).filter((name) => /^root-[0-9a-f]{12}$/.test(name))
  if (older.length > 0) say(`older ones can be deleted when nothing runs in them: ${older.join(', ')}`)
  const to = fs.openSync(log, 'a')
  const isolated = ['unshare', ...ALONE, 'bash', script]
  const args = [path.join(cache, 'lock'), ...isolated, root, PACKAGES.join(' '), mirror() ?? '']
  const { status } = spawnSync('flock', args, { stdio: ['ignore', to, to] })
  fs.closeSync(to)
  if (status !== 0) throw new NoRoot(`the build root could not be made; ${log} ends with:\n${endOf(log)}`)
  return root
}

/** Settings of this machine for registries and proxies, which hold in the root too. Nothing that changes a build. */
function networkSettings(env) {
  const matters = /(?:^|_)(?:http|https|all|no)_proxy$|^PIP_|^SSL_CERT_|^CARGO_(?:HTTP|NET|REGISTR|SOURCE)/i
  return Object.fromEntries(Object.entries(env).filter(([name]) => matters.test(name)))
}

// Mounts what the root needs, then becomes the command. $1 is the root, $2 the checkout, $3 Cargo's folder.
const ENTER = `
set -e
root=$1 checkout=$2 cargo=$3
shift 3
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$checkout" "$root${INSIDE}"
mount --bind "$cargo" "$root/cargo"
mount --bind -o ro /etc/ssl/certs "$root/etc/ssl/certs"
mount --bind -o ro "$(readlink -f /etc/resolv.conf)" "$root/etc/resolv.conf"
exec chroot "$root" env --ignore-environment --chdir=${INSIDE} "$@"
`

/** The command line that runs a command in the root, with these settings and no others. It stands in the checkout. */
function entering(root, command, settings = {}) {
  const cargo = process.env.CARGO_HOME || path.join(os.homedir(), '.cargo')
  fs.mkdirSync(cargo, { recursive: true })
  const usual = { HOME: '/root', LANG: 'C.UTF-8', PATH: '/usr/sbin:/usr/bin:/sbin:/bin', CARGO_HOME: '/cargo' }
  const inside = Object.entries({ ...networkSettings(process.env), ...usual, ...settings }).map(
    ([name, value]) => `${name}=${value}`,
  )
  return [
    // When this process ends, however it does, the kernel ends `unshare`, and with it all that runs in its namespaces.
    'setpriv',
    '--pdeathsig',
    'KILL',
    'unshare',
    ...ALONE,
    'bash',
    '-c',
    ENTER,
    'enter',
    root,
    checkout,
    cargo,
    ...inside,
    ...command,
  ]
}

/**
 * Runs a command in the root. Resolves, when it ended, with its status and with all that it printed; never rejects because
 * of what the command did.
 * @param {string} root
 * @param {string[]} command
 * @param {Record<string, string>} [settings] its environment
 * @returns {Promise<{ status: number | null, output: string }>}
 */
function runInRoot(root, command, settings) {
  const [program, ...args] = entering(root, command, settings)
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const output = []
    child.stdout.on('data', (data) => output.push(data))
    child.stderr.on('data', (data) => output.push(data))
    child.on('error', (error) => resolve({ status: null, output: error.message }))
    child.on('close', (status) => resolve({ status, output: Buffer.concat(output).toString() }))
  })
}

module.exports = {
  INSIDE,
  NoRoot,
  cacheFolder,
  entering,
  makeRoot,
  mirrorIn,
  networkSettings,

  runInRoot,
  whyNot,
}
