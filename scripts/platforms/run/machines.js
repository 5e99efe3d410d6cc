'use strict'

// Machines of other kinds for Linux builds: a small Debian for each CPU, and a way to run a program there as if the
// machine had that CPU. The Debians are in the build root, created there once by mmdebstrap, which runs none of their
// programs. A Debian is either complete or missing: it is created next to its place, and renamed.

const { spawn } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { INSIDE, NoRoot, runInRoot } = require('../root.js')

const checkout = path.join(__dirname, '..', '..', '..')

/** Debian's name for each CPU, by QEMU's name for it, and the first bytes of its programs. */
const CPUS = {
  x86_64: { debian: 'amd64', bits: 64, order: 'little', number: 0x3e },
  aarch64: { debian: 'arm64', bits: 64, order: 'little', number: 0xb7 },
  arm: { debian: 'armhf', bits: 32, order: 'little', number: 0x28 },
  ppc64le: { debian: 'ppc64el', bits: 64, order: 'little', number: 0x15 },
  riscv64: { debian: 'riscv64', bits: 64, order: 'little', number: 0xf3 },
  s390x: { debian: 's390x', bits: 64, order: 'big', number: 0x16 },
}

/** The CPU of a target, as QEMU calls it. */
const cpuOf = (target) => target.qemu ?? 'x86_64'

/** What tests use besides Node.js: a shell with its usual programs, and `ps`. */
const USUAL = ['base-files', 'dash', 'coreutils', 'procps']
/** The C libraries; libstdc++ is for a Node.js that is not Debian's. */
const LIBRARIES = { gnu: ['libc6', 'libstdc++6'], musl: ['libc6', 'musl'] }
/** Debian has Node.js 20 for every CPU of ours. For these, it has the only maintained one. */
const HAS_DEBIANS_NODE = ['arm', 'ppc64le', 'riscv64', 's390x']

/** The packages of the Debian that a target runs in. */
function packagesFor(target) {
  const libc = target.name.endsWith('-musl') ? 'musl' : 'gnu'
  const node = HAS_DEBIANS_NODE.includes(cpuOf(target)) ? ['nodejs'] : []
  return [...USUAL, ...LIBRARIES[libc], ...node]
}

// Runs in the build root. $1 is the place, $2 the CPU, $3 the packages.
const MAKE = `
set -eu
mkdir -p /machines
aside=$(mktemp -d "$1.unfinished-XXXXXX")
trap 'rm -rf "$aside"' EXIT
mmdebstrap --quiet --variant=extract --mode=root --architectures="$2" --include="$3" trixie "$aside" /etc/apt/sources.list
for folder in proc dev tmp nodes addon .${INSIDE}; do mkdir -p "$aside/$folder"; done
echo 'root:x:0:0:root:/root:/bin/sh' >"$aside/etc/passwd"
echo 'root:x:0:' >"$aside/etc/group"
chmod 755 "$aside"
mv --no-target-directory "$aside" "$1" || [ -d "$1" ] # another command may have made it meanwhile
`

/**
 * The Debian that a target runs in, as a path on this machine. Creates it if it is missing, which takes a few seconds.
 */
async function machineFor(root, target) {
  const packages = packagesFor(target).join(',')
  const { debian } = CPUS[cpuOf(target)]
  const hash = createHash('sha256').update(packages).update(MAKE).digest('hex').slice(0, 12)
  const inside = `/machines/${debian}-${hash}`
  const folder = path.join(root, inside)
  if (!fs.existsSync(folder)) {
    const { status, output } = await runInRoot(root, ['bash', '-c', MAKE, 'make', inside, debian, packages])
    if (status !== 0) throw new NoRoot(`a Debian for ${debian} could not be made:\n${output}`)
  }
  return folder
}

const escaped = (bytes) => bytes.map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')

/**
 * The line that tells the kernel's binfmt_misc to start programs of a CPU with an emulator: the first bytes of such a
 * program, and which bits of them count. It covers executables with and without a fixed address (2 and 3), of any
 * operating system. "F": the emulator is opened now, so it need not be in the folder that becomes the root.
 */
function registration(cpu, emulator) {
  const { bits, order, number } = CPUS[cpu]
  const two = (value) => (order === 'big' ? [0, value] : [value, 0])
  const start = [0x7f, ...Buffer.from('ELF'), bits / 32, order === 'big' ? 2 : 1, 1, 0, ...new Array(8).fill(0)]
  const counts = [...new Array(7).fill(0xff), 0, ...new Array(8).fill(0xff)]
  const anyExecutable = order === 'big' ? [0xff, 0xfe] : [0xfe, 0xff]
  return `:flakeforge:M::${escaped([...start, ...two(2), ...two(number)])}:${escaped([...counts, ...anyExecutable, 0xff, 0xff])}:${emulator}:F`
}

// Mounts the folders that the machine needs, then becomes the program. $1 is the machine, $2 the checkout, $3 the
// folder of the addon, $4 the Nodes, $5 a folder for temporary files, $6 the registration, empty if none is needed.
const ENTER = `
set -e
machine=$1 checkout=$2 addon=$3 nodes=$4 temp=$5 registration=$6
shift 6
mount -t proc proc "$machine/proc"
mount --rbind /dev "$machine/dev"
mount --rbind /sys "$machine/sys"
mount --rbind "$checkout" "$machine${INSIDE}"
mount --rbind "$addon" "$machine/addon"
mount --rbind "$nodes" "$machine/nodes"
mount --rbind "$temp" "$machine/tmp"
if [ -n "$registration" ]; then
  mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
  printf '%s' "$registration" >/proc/sys/fs/binfmt_misc/register
fi
exec unshare --root="$machine" --wd=${INSIDE} -- "$@"
`

/** Why this version of Linux cannot emulate anything. Undefined if it can. */
function whyNot(release) {
  const [major, minor] = release.split('.').map(Number)
  if (major > 6 || (major === 6 && minor >= 7)) return undefined
  return `programs of another CPU need Linux 6.7 or later, where a user namespace has a binfmt_misc of its own, and this is ${release}: run it on a newer Linux`
}

/**
 * The command line that runs a program on a machine. A program runs in separate namespaces. There the kernel starts an
 * emulator for programs of the other CPU (binfmt_misc), so that a program can start others, as AVA does with
 * process.execPath. A wrapper instead would be visible: process.execPath is the program itself. The registration
 * belongs to the namespace (Linux 6.7 and later), so nothing stays on the machine, and when a program has ended, or was
 * ended, all its children have too.
 */
function entering({ root, machine, cpu, addon, temp }, command) {
  const isEmulated = cpu !== 'x86_64'
  // Only a user namespace has its own registrations. It has one user, so native programs do without.
  const own = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child']
  if (isEmulated) own.push('--user', '--map-root-user')
  const register = isEmulated ? registration(cpu, path.join(root, 'usr', 'bin', `qemu-${cpu}`)) : ''
  const folders = [machine, checkout, path.dirname(addon), path.join(root, 'nodes'), temp]
  const enter = ['bash', '-c', ENTER, 'enter', ...folders, register]
  return ['setpriv', '--pdeathsig', 'KILL', 'unshare', ...own, ...enter, ...command]
}

/** Only what a program needs: none of this machine's settings changes a test. */
const environment = (addon, node) => ({
  PATH: `${path.posix.dirname(node)}:/usr/sbin:/usr/bin:/sbin:/bin`,
  HOME: '/tmp',
  LANG: 'C.UTF-8',
  NAPI_RS_NATIVE_LIBRARY_PATH: `/addon/${path.basename(addon)}`,
})

/**
 * Runs a command, and resolves with its outcome. It is killed after this time, with all its children.
 * @param {string[]} command
 * @param {{ env: Record<string, string>, timeoutMs: number }} options
 * @returns {Promise<{ status: number | null, output: string }>} status null: it was killed, and the output says so
 */
function runCommand([file, ...args], { env, timeoutMs }) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      env,
      cwd: checkout,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    })
    const output = []
    const started = Date.now()
    const add = (data) => output.push(data)
    child.stdout.on('data', add)
    child.stderr.on('data', add)
    child.on('error', (error) => add(Buffer.from(error.message)))
    child.on('close', (status, signal) => {
      const seconds = Math.round((Date.now() - started) / 1000)
      if (signal) add(Buffer.from(`\nended by ${signal} after ${seconds} s; it may take ${timeoutMs / 1000} s`))
      resolve({ status, output: Buffer.concat(output).toString() })
    })
  })
}

/**
 * A machine for a target, with this addon.
 * @param {string} root the build root
 * @param {import('../targets.js').Target} target
 * @param {string} addon a file
 */
async function makeMachine(root, target, addon) {
  const cpu = cpuOf(target)
  const problem = target.qemu ? whyNot(os.release()) : undefined
  if (problem) throw new NoRoot(problem)
  const machine = await machineFor(root, target)
  fs.mkdirSync(path.join(root, 'nodes'), { recursive: true })

  /** Runs `node` there. */
  async function run(node, args, timeoutMs) {
    const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-machine-'))
    fs.chmodSync(temp, 0o1777)
    try {
      const command = entering({ root, machine, cpu, addon: path.resolve(addon), temp }, [node, ...args])
      return await runCommand(command, { env: environment(addon, node), timeoutMs })
    } finally {
      fs.rmSync(temp, { recursive: true, force: true, maxRetries: 5 }) // a killed program may still be ending
    }
  }
  return { run }
}

module.exports = { cpuOf, makeMachine, runCommand, whyNot }
