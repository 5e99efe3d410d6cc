// docs/run/containers.md and docs/run/kubernetes.md are correct: their programs run, those about files in namespaces of
// the kernel, as containers do; their manifests are YAML and match the text.

import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { parse } from 'yaml'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { freePort } from '../servers/server.mjs'
import { blocksOf, installed, linesOf, program, root } from '../support/guides.mjs'
import { stopProcess } from '../support/stop-process.mjs'
import { once, until } from '../support/waits.mjs'

const { FlakeId, createGroup } = createRequire(import.meta.url)('flakeforge')
const { fileStore, openStore } = createRequire(import.meta.url)('flakeforge/lease')

const GUIDE = 'run/containers.md'
const KUBERNETES = 'run/kubernetes.md'
const page = readFileSync(join(root, 'docs', GUIDE), 'utf8')
const [compose, oneMachine] = blocksOf(GUIDE, 'yaml').map((text) => parse(text))
const statefulSet = blocksOf(KUBERNETES, 'yaml')
  .map((text) => parse(text))
  .find(({ kind }) => kind === 'StatefulSet')
const programs = [GUIDE, KUBERNETES].flatMap((page) => blocksOf(page, 'javascript'))
const programWith = (words) => programs.find((code) => code.includes(words))

/** Whether this user may create namespaces: root, but not in every sandbox. */
const UNSHARE = ['--mount', '--uts', '--pid', '--fork', '--mount-proc', '--kill-child']
const mayUnshare = process.platform === 'linux' && spawnSync('unshare', [...UNSHARE, 'true']).status === 0
const inContainers = mayUnshare ? test : test.skip
const withRedis = wantRedis() === undefined ? test.skip : test

/** A command in a container with that host name: it sees only itself, and can write only to `volume`. */
function container(host, volume, ...command) {
  const script = `
    hostname "$1"; volume=$2; shift 2
    mount --bind "$volume" "$volume"
    mount --bind / /mnt && mount -o remount,ro,bind /mnt && mount --bind "$volume" "/mnt$volume"
    for system in /proc /dev; do mount --rbind $system /mnt$system; done
    exec chroot /mnt "$@"`
  return ['unshare', [...UNSHARE, 'sh', '-euc', script, 'container', host, volume, ...command]]
}

inContainers('containers that share a volume have a slot each, and no other writable place', async (t) => {
  const folder = await installed(t)
  const volume = join(folder, 'volume')
  await mkdir(volume)
  const file = await program(
    folder,
    'holds.mjs',
    `import { writeFileSync } from 'node:fs'
     import { FlakeId } from 'flakeforge'
     try { writeFileSync('${folder}/elsewhere', '') } catch ({ code }) { console.log(code, process.pid) }
     const flake = await FlakeId.join()
     console.log(flake.slot)
     process.stdin.once('data', () => process.exit())`,
  )
  const env = { ...process.env, FLAKEFORGE_STORE: `file:${volume}` }
  const slots = []
  const children = []
  for (const host of ['web-1', 'web-2', 'web-3']) {
    const child = spawn(...container(host, volume, process.execPath, file), { env, timeout: 120_000 })
    child.stderr.pipe(process.stderr)
    children.push(child)
    t.teardown(() => child.kill('SIGKILL'))
    let said = ''
    for await (const text of child.stdout) {
      said += text
      if (said.split('\n').length === 3) break
    }
    const [elsewhere, slot] = said.split('\n')
    t.is(elsewhere, 'EROFS 1')
    slots.push(Number(slot))
  }
  t.deepEqual(slots, [0, 1, 2])
  children[1].kill('SIGKILL') // this also ends process 1 of its namespace, as `docker kill` does
  await once(children[1], 'exit')
  const store = fileStore(volume)
  await until(async () => (await store.list('default'))[1].owner === undefined)
  const flake = await FlakeId.join(store)
  t.is(flake.slot, 1)
  await flake.close()
  for (const child of [children[0], children[2]]) {
    child.stdin.write('end\n')
    await once(child, 'exit')
  }
})

inContainers("a StatefulSet's pod has its own number, and continues after its last ID", async (t) => {
  const folder = await installed(t)
  const volume = join(folder, 'volume')
  await mkdir(volume)
  const code = programWith("'ordinal'").replace('/data', volume)
  t.not(code, programWith("'ordinal'"))
  const file = await program(folder, 'ordinal.mjs', code)
  const [number, first] = await linesOf(...container('orders-3', volume, process.execPath, file))
  t.is(number, '3')
  const [, second] = await linesOf(...container('orders-3', volume, process.execPath, file))
  t.true(BigInt(second) > BigInt(first))
  const offset = await program(
    folder,
    'offset.mjs',
    `import { FlakeId } from 'flakeforge'
     console.log(new FlakeId({ id: 'ordinal', nodeOffset: 512 }).id)`,
  )
  t.deepEqual(await linesOf(...container('orders-3', volume, process.execPath, offset)), ['515'])
  const error = await t.throwsAsync(linesOf(...container('3f2504e04f89', volume, process.execPath, offset)))
  t.regex(error.stderr, /ERR_FLAKE_OPTION/)
})

inContainers(
  'a volume of root is refused to the user of the sample, until it is given to that user as the page says',
  async (t) => {
    const folder = await installed(t)
    const volume = join(folder, 'volume')
    await mkdir(volume)
    for (const passable of [dirname(folder), folder, volume]) await chmod(passable, 0o755) // else the error names the folder above
    const { user } = oneMachine.services.app
    const file = await program(
      folder,
      'refused.mjs',
      `import { FlakeId } from 'flakeforge'
     process.setgroups([])
     process.setgid(${user})
     process.setuid(${user})
     const said = ({ code, path }) => [code, path.startsWith('${volume}')]
     const flake = await FlakeId.join('file:${volume}').catch((error) => console.log(...said(error)))
     if (flake) console.log(flake.slot, flake.nextString().length)`,
    )
    const run = () => linesOf(...container('web-1', volume, process.execPath, file))
    t.deepEqual(await run(), ['ERR_FLAKE_FILE true'])
    const [, ...chown] = /--user 0 app (chown) (\S+) /.exec(page)
    t.is(spawnSync(chown[0], [chown[1], volume]).status, 0)
    t.deepEqual(await run(), ['0 19'])
  },
)

withRedis(
  'a service answers 503 while there are no IDs, continues afterwards, and shuts down properly at SIGTERM',
  async (t) => {
    const folder = await installed(t)
    const redis = await startRedis()
    t.teardown(() => redis.stop())
    const short = { ttlMs: 2000, skewMs: 500 } // the page's program would run for 30 s without its store
    await createGroup(redis.url, { group: 'shop', ...short })
    const code = programWith("'SIGTERM'")
    const file = await program(folder, 'service.mjs', code.replace("'shop'", `'shop', ...${JSON.stringify(short)}`))
    const port = await freePort()
    const env = { ...process.env, FLAKEFORGE_STORE: redis.url, PORT: String(port) }
    const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = once(child, 'exit')
    t.teardown(() => child.kill('SIGKILL'))
    const errors = text(child.stderr)
    const hasEnded = ended.then(async () => Promise.reject(new Error(await errors)))
    hasEnded.catch(() => {}) // at its end, too
    /** Sends requests until the answer has this status. */
    const answered = async (status) => {
      for (;;) {
        const asked = fetch(`http://127.0.0.1:${port}`).catch(() => undefined)
        const answer = await Promise.race([asked, hasEnded])
        if (answer?.status === status) return answer
        await sleep(10)
      }
    }
    t.regex(await (await answered(200)).text(), /^\d{19}$/)
    await stopProcess(redis.pid)
    const refusal = await answered(503)
    t.deepEqual([await refusal.text(), refusal.headers.get('retry-after')], ['ERR_FLAKE_LEASE_EXPIRED', '1'])
    process.kill(redis.pid, 'SIGCONT')
    await answered(200)
    child.kill('SIGTERM')
    t.deepEqual(await ended, [0, null])
    const store = openStore(redis.url)
    t.deepEqual(
      (await store.list('shop')).filter(({ owner }) => owner !== undefined),
      [],
      'its slot is free',
    )
    await store.close()
  },
)

test('the program about probes does what it promises', async (t) => {
  const folder = await installed(t)
  const file = await program(folder, 'probes.mjs', programWith('isHealthy'))
  const env = { FLAKEFORGE_STORE: `file:${join(folder, 'ids')}` }
  t.deepEqual(await linesOf(process.execPath, [file], env), ['true true'])
})

test('the manifests name what the programs read, and nothing else', (t) => {
  t.is(compose.services.app.environment.FLAKEFORGE_STORE, `redis://${Object.keys(compose.services)[0]}:6379`)
  t.true(compose.services.redis.command.includes('noeviction'))
  for (const { app } of [compose.services, oneMachine.services]) {
    t.deepEqual(app.command, ['node', 'main.mjs'])
    t.true(app.read_only)
  }
  const [, mountedAt] = oneMachine.services.app.volumes[0].split(':')
  t.is(oneMachine.services.app.environment.FLAKEFORGE_STORE, `file:${mountedAt}`)
  const { spec } = statefulSet
  const [mount] = spec.template.spec.containers[0].volumeMounts
  t.true(programWith("'ordinal'").includes(`'${mount.mountPath}/`))
  t.is(mount.name, spec.volumeClaimTemplates[0].metadata.name)
  t.deepEqual(spec.selector.matchLabels, spec.template.metadata.labels)
  const [owned, image] = blocksOf(GUIDE, 'dockerfile')
  const { user } = oneMachine.services.app
  t.is(
    owned.trim(),
    `RUN mkdir ${mountedAt} && chown ${user}:${user} ${mountedAt}`,
    'a new volume gets the owner of the folder',
  )
  t.regex(image, /^CMD \["node", "main\.mjs"\]$/m)
})
