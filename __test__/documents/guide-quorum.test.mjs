// docs/store/quorum.md, as a newcomer follows it: three servers, the group, a member; one server is stopped, and comes back with
// nothing.

import { spawn } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import anyTest from 'ava'
import { wantRedis } from '../servers/redis.mjs'
import { freePort, until } from '../servers/server.mjs'
import { environment } from '../support/command.mjs'
import { outputs } from '../support/documents.mjs'
import { blocksOf, installed, program, root } from '../support/guides.mjs'
import { once } from '../support/waits.mjs'

const test = process.platform !== 'win32' && wantRedis() !== undefined ? anyTest : anyTest.skip

const [START, SLOTS] = blocksOf('store/quorum.md', 'sh')
const [MEMBER] = blocksOf('store/quorum.md', 'javascript')
const [CREATED, LISTED] = outputs(readFileSync(join(root, 'docs', 'store', 'quorum.md'), 'utf8')).map(
  ({ shown }) => shown,
)
const STOP = 'redis-cli -p 7002 shutdown nosave'

/** A shell in the folder, with the page's ports replaced by free ones; its processes end with the test. */
async function shellOf(t) {
  const folder = await installed(t)
  await mkdir(join(folder, 'node_modules', '.bin'))
  const command = join(root, 'dist', 'flakeforge.cjs')
  chmodSync(command, 0o755) // as npm does
  await symlink(command, join(folder, 'node_modules', '.bin', 'flakeforge'))
  const ports = [await freePort(), await freePort(), await freePort()]
  const here = (text) =>
    text
      .replaceAll(/700([123])/g, (_, i) => String(ports[i - 1]))
      .replaceAll("--save ''", `--save '' --bind 127.0.0.1 --dir ${folder}`)
      .replaceAll(/^npm install .*$/gm, '')
  const start = (file, ...args) => {
    const child = spawn(file, args, { cwd: folder, env: environment({ npm_config_offline: 'true' }), detached: true })
    t.teardown(() => {
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {} // it has ended
    })
    const text = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'])
      child[name].setEncoding('utf8').on('data', (more) => {
        text[name] += more
      })
    return Object.assign(child, { text })
  }
  const sh = async (code) => {
    const child = start('bash', '-uc', here(code))
    await once(child, 'exit')
    return child.text
  }
  return { folder, here, start, sh }
}

/** Without numbers, dates and names of machines. */
const shape = (text) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'DATE')
        .replaceAll(/\S+ \([\da-f]{6}\)/g, 'HOLDER')
        .replaceAll(/\d+/g, '#')
        .replaceAll(/ +/g, ' '),
    )

test('the page, step by step', async (t) => {
  t.timeout(180_000)
  const { folder, here, start, sh } = await shellOf(t)
  const [servers, create] = START.split(/(?=^npm )/m)
  await sh(servers)
  await until(async () => {
    const all = await Promise.all([1, 2, 3].map((i) => sh(`redis-cli -p 700${i} ping`)))
    return all.every(({ stdout }) => stdout.trim() === 'PONG')
  })
  const made = await sh(create)
  t.is(made.stdout, CREATED, made.stderr)
  const member = start(process.execPath, await program(folder, 'member.mjs', here(MEMBER)))
  const count = () => member.text.stdout.split('\n').length - 1
  const more = async () => {
    const before = count()
    await until(() => count() > before + 1, { state: () => member.text.stderr })
  }
  await more()
  await sh(STOP)
  await until(() => /FLAKEFORGE_STORE_AWAY.*does not take part/.test(member.text.stderr))
  await more()
  await until(async () => (await sh(SLOTS)).stdout.includes('does not answer'))
  await sh(servers.replace('7001 7002 7003', '7002'))
  await until(() => /takes part again/.test(member.text.stderr), { state: () => member.text.stderr })
  await until(async () => (await sh(SLOTS)).stdout.match(/takes part/g)?.length === 3)
  t.deepEqual(shape((await sh(SLOTS)).stdout), shape(LISTED))
  const ids = member.text.stdout.trim().split('\n')
  t.is(new Set(ids).size, ids.length)
})
