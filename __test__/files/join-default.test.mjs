// FlakeId.join() without a store: which folder it uses, that it refuses to choose one in a container, and node's
// cluster.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { isRefused } from '../support/command.mjs'
import { jsonOfChild } from '../support/index.mjs'
import { diskFolder, isWindows } from '../support/processes.mjs'

// --- the default folder ---

const preloaded = (name) => ['--require', path.join(import.meta.dirname, '..', 'workers', name)]
const HOST = preloaded('not-in-a-container.cjs')
const ONLY_ENVIRONMENT = preloaded('no-marks-of-a-container.cjs')

/** The environment of a user with this home folder. */
const homeIs = (home) => ({ [isWindows ? 'USERPROFILE' : 'HOME']: home })

/** The result of join() in a process with this environment; on success, the folders that it created. */
async function joinIn(t, home, env, { flags = HOST, uid, store = '' } = {}) {
  const clean = { XDG_STATE_HOME: undefined, FLAKEFORGE_STORE: undefined, container: undefined, ...env }
  const source = `
    for (const [name, value] of Object.entries(${JSON.stringify({ ...homeIs(home), ...env })})) process.env[name] = value
    for (const name of ${JSON.stringify(Object.keys(clean).filter((name) => clean[name] === undefined))}) delete process.env[name]
    if (${uid !== undefined}) process.setuid(${uid})
    const said = await (async () => FlakeId.join(${store}))().then(
      async (flake) => {
        const { slot } = flake
        flake.next()
        await flake.close()
        return { slot }
      },
      ({ code, message, option }) => ({ code, message, option }),
    )
    console.log(JSON.stringify(said))
  `
  return jsonOfChild(t, source, flags)
}

test.serial('the default folder is ~/.local/state/flakeforge', async (t) => {
  const home = diskFolder(t)
  t.deepEqual(await joinIn(t, home, {}), { slot: 0 })
  t.true(fs.existsSync(path.join(home, '.local', 'state', 'flakeforge')))
})

test.serial('$XDG_STATE_HOME takes precedence if it is an absolute path', async (t) => {
  const [home, state] = [diskFolder(t), diskFolder(t)]
  t.deepEqual(await joinIn(t, home, { XDG_STATE_HOME: state }), { slot: 0 })
  t.deepEqual(fs.readdirSync(state), ['flakeforge'])
  t.deepEqual(fs.readdirSync(home), [])
  for (const XDG_STATE_HOME of ['', 'relative']) {
    const other = diskFolder(t)
    t.deepEqual(await joinIn(t, other, { XDG_STATE_HOME }), { slot: 0 })
    t.true(fs.existsSync(path.join(other, '.local', 'state', 'flakeforge')), XDG_STATE_HOME)
  }
})

test.serial('FLAKEFORGE_STORE takes precedence over both, in a container too', async (t) => {
  const [home, folder] = [diskFolder(t), diskFolder(t)]
  const env = { FLAKEFORGE_STORE: `file:${folder}/ids`, XDG_STATE_HOME: home }
  t.deepEqual(await joinIn(t, home, env), { slot: 0 })
  t.deepEqual(fs.readdirSync(folder), ['ids'])
  const inContainer = { FLAKEFORGE_STORE: `file:${diskFolder(t)}/ids`, container: 'docker' }
  t.deepEqual(await joinIn(t, home, inContainer, { flags: [] }), { slot: 0 })
  t.deepEqual(fs.readdirSync(home), [])
  const wrong = await joinIn(t, home, { FLAKEFORGE_STORE: 'nonsense://x' })
  t.like(wrong, { code: 'ERR_FLAKE_OPTION', option: 'store' })
})

/** Marks that are proof of a container. */
const CONTAINERS = [{ container: 'docker' }, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }]
/** What platforms for functions set: Lambda, Cloud Run's services and jobs, Azure, Vercel. */
const FUNCTIONS = [
  { AWS_LAMBDA_FUNCTION_NAME: 'orders' },
  { K_SERVICE: 'orders' },
  { CLOUD_RUN_JOB: 'orders' },
  { FUNCTIONS_WORKER_RUNTIME: 'node' },
  { VERCEL: '1' },
]

test.serial('in a container join() refuses the default folder, and names what to use instead', async (t) => {
  for (const env of [...CONTAINERS, ...FUNCTIONS]) {
    for (const store of ['', 'lease.fileStore()', 'lease.fileStore(null)']) {
      const home = diskFolder(t)
      const { code, option, message } = await joinIn(t, home, env, { flags: ONLY_ENVIRONMENT, store })
      t.is(code, 'ERR_FLAKE_OPTION')
      t.is(option, 'store')
      for (const name of ['redis:', 'postgres:', 'etcd:', 'file:/var/lib/', 'FLAKEFORGE_STORE', 'each container'])
        t.true(message.includes(name), name)
      t.false(message.includes('undefined'), message)
      t.deepEqual(fs.readdirSync(home), [], 'nothing was created')
    }
  }
})

test.serial('without any mark of a container the default folder is used', async (t) => {
  const none = Object.fromEntries([...CONTAINERS, ...FUNCTIONS].flatMap(Object.keys).map((name) => [name, '']))
  t.deepEqual(await joinIn(t, diskFolder(t), none, { flags: ONLY_ENVIRONMENT }), { slot: 0 })
})

/** Runs in separate namespaces, as in engines that leave no other mark of a container. */
const inNamespaces = (flags, home, more) => {
  const code = `
    require(${JSON.stringify(path.join(import.meta.dirname, '../workers/no-files-of-a-container.cjs'))})
    const FlakeId = require('flakeforge')
    FlakeId.join().then((flake) => flake.close().then(() => 'joined'), ({ message }) => message).then(console.log)
  `
  const env = { PATH: process.env.PATH, ...homeIs(home), ...more }
  const cwd = path.join(import.meta.dirname, '../..')
  return spawnSync('unshare', [...flags, process.execPath, '-e', code], { env, cwd, encoding: 'utf8' })
}

const mayUnshare = process.platform === 'linux' && spawnSync('unshare', ['-p', '-f', 'true']).status === 0
const unshared = mayUnshare ? test.serial : test.serial.skip

unshared('(with unshare only) a PID or cgroup namespace marks a container; services have the others too', (t) => {
  for (const flags of [['-p', '-f', '--mount-proc'], ['-C'], ['-m', '-p', '-C', '-u', '-i', '-f', '--mount-proc']]) {
    const home = diskFolder(t)
    const { stdout } = inNamespaces(flags, home)
    t.regex(
      stdout,
      /^No store is set, .*\(\/proc\/self\/ns\/(?:pid|cgroup) is .*FLAKEFORGE_STORE=file:/,
      flags.join(' '),
    )
    t.deepEqual(fs.readdirSync(home), [])
  }
  for (const flags of [['-m'], ['-u'], ['-m', '-u', '-i', '-n']]) {
    const { stdout, stderr } = inNamespaces(flags, diskFolder(t))
    t.is(stdout, 'joined\n', flags.join(' ') + stderr)
  }
})

unshared('(with unshare only) without /proc a container cannot be ruled out', (t) => {
  const home = diskFolder(t)
  const { stdout } = inNamespaces(['-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$0" "$@"'], home)
  t.regex(stdout, /^No store is set, .*\/proc\/self\/ns\/pid cannot be read, so it may be one/)
})

/** Commands that a shell runs before it becomes the program: the kernel of WSL, its folder, and an overlay root. */
const KERNEL =
  'echo "Linux version 5.15.167.4-microsoft-standard-WSL2" >/mnt/version && mount --bind /mnt/version /proc/version'
const FOLDER = 'mount -t tmpfs none /run && mkdir /run/WSL'
const OVERLAY = `mkdir /mnt/upper /mnt/work /mnt/root &&
  mount -t overlay none -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root &&
  for each in proc run dev tmp; do mount --rbind /$each /mnt/root/$each || exit; done`
const inShell = (steps, last) => [...NAMESPACES, 'sh', '-c', ['mount -t tmpfs none /mnt', ...steps, last].join(' && ')]
const NAMESPACES = ['-m', '-p', '-C', '-f', '--mount-proc']
const RUN = 'exec "$0" "$@"'
const IN_OVERLAY = 'exec chroot /mnt/root env --chdir="$PWD" "$0" "$@"'

unshared('(with unshare only) a distribution of WSL counts as a machine, and a container in it does not', (t) => {
  const home = diskFolder(t)
  const inWsl = inNamespaces(inShell([KERNEL, FOLDER], RUN), home)
  t.is(inWsl.stdout, 'joined\n', inWsl.stderr)
  for (const steps of [[KERNEL], [FOLDER]]) {
    const { stdout } = inNamespaces(inShell(steps, RUN), home)
    t.regex(stdout, /^No store is set, .*\/proc\/self\/ns\/pid is /, steps[0])
  }
  const inContainer = inNamespaces(inShell([KERNEL, FOLDER, OVERLAY], IN_OVERLAY), home, { SHOW_MOUNTS: '1' })
  t.regex(inContainer.stdout, /^No store is set, .*its root file system is an overlay/, inContainer.stderr)
})

const WAYS_OUT = ['file:/var/lib/', 'FLAKEFORGE_STORE']

function isHomeless(t, { code, option, message }) {
  t.is(code, 'ERR_FLAKE_OPTION')
  t.is(option, 'store')
  for (const name of WAYS_OUT) t.true(message.includes(name), name)
}

test.serial(
  'a home folder without an absolute path is rejected: each working folder would have a slot 0',
  async (t) => {
    // Windows itself finds another folder for names that are too short to be a path.
    for (const home of isWindows ? ['relative', './home'] : ['', 'relative', './home', '~']) {
      for (const store of ['', 'lease.fileStore()']) {
        const said = await joinIn(t, home, {}, { store })
        isHomeless(t, said)
        t.true(said.message.includes(`'${home}'`), said.message)
      }
      const state = diskFolder(t)
      t.deepEqual(await joinIn(t, home, { XDG_STATE_HOME: state }), { slot: 0 })
    }
    for (const name of ['.local', 'relative', 'home', '~']) t.false(fs.existsSync(name), name)
  },
)

test.serial('the command gives the same error for an invalid home folder', async (t) => {
  for (const home of isWindows ? ['relative'] : ['', 'relative']) {
    const env = { ...homeIs(home), XDG_STATE_HOME: undefined }
    const said = await isRefused(t, ['slots'], /home folder/, { env })
    for (const name of WAYS_OUT) t.true(said.includes(name), name)
  }
})

const asRoot = process.getuid?.() === 0 ? test.serial : test.serial.skip

asRoot('(as root only) a user that the system does not know has no home folder', async (t) => {
  for (const store of ['', 'lease.fileStore()'])
    isHomeless(t, await joinIn(t, undefined, { HOME: undefined }, { uid: 12_345, store }))
})

// --- cluster ---

test.serial("node's cluster: a slot for each worker, and for the one that replaces a killed one", async (t) => {
  const folder = diskFolder(t)
  const script = path.join(folder, 'cluster.cjs')
  fs.writeFileSync(
    script,
    `
    const cluster = require('node:cluster')
    const { once } = require('node:events')
    const FlakeId = require(${JSON.stringify(path.join(import.meta.dirname, '..', '..'))})
    const OPTIONS = { slots: 4, waitMs: 20000 }
    async function work() {
      const flake = await FlakeId.join(${JSON.stringify(`file:${folder}/slots`)}, OPTIONS)
      process.send({ slot: flake.slot, ids: Array.from(flake.takeBigInts(1000), String) })
    }
    async function supervise() {
      const all = []
      const fork = async () => {
        const worker = cluster.fork()
        const [made] = await once(worker, 'message')
        all.push(made)
        return worker
      }
      const workers = await Promise.all([fork(), fork(), fork(), fork()])
      for (const worker of workers.slice(0, 2)) {
        worker.process.kill('SIGKILL')
        await once(worker, 'exit')
        await fork()
      }
      const ids = all.flatMap(({ ids }) => ids)
      console.log(JSON.stringify({ slots: all.map(({ slot }) => slot), ids: ids.length, different: new Set(ids).size }))
      process.exit()
    }
    if (cluster.isPrimary) supervise()
    else work()
    `,
  )
  const source = `
    import { execFileSync } from 'node:child_process'
    process.stdout.write(execFileSync(process.execPath, [${JSON.stringify(script)}]))
  `
  const { slots, ids, different } = await jsonOfChild(t, source)
  t.deepEqual(slots.slice(0, 4).sort(), [0, 1, 2, 3])
  t.is(ids, 6000)
  t.is(different, 6000)
  t.true(slots.slice(4).every((slot) => slot < 4))
})
