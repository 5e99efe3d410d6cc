// `npx flakeforge slots`: the holders of the slots of a folder, as a table and as JSON. It takes, frees and creates
// nothing.

import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { run } from '../support/command.mjs'
import { jsonOfChild, lease } from '../support/index.mjs'
import { diskFolder, isRoot, Puppet } from '../support/processes.mjs'

const slots = (args, env) => run(['slots', ...args], { env })

async function rows(t, args, env) {
  const { code, stdout, stderr } = await slots([...args, '--json'], env)
  t.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** A folder with a slot of a living process, a released slot, and one of a killed process. */
async function usedFolder(t) {
  const folder = diskFolder(t)
  const [living, leaving, killed] = [1, 2, 3].map(() => new Puppet(t))
  for (const puppet of [living, leaving, killed]) {
    await puppet.call('join', `file:${folder}`, {})
    await puppet.take(10)
  }
  const pids = [living.pid, leaving.pid, killed.pid]
  await leaving.call('close')
  await killed.kill()
  return { folder, pids, living }
}

const contentsOf = (folder) =>
  fs
    .readdirSync(folder, { recursive: true })
    .filter((name) => fs.statSync(path.join(folder, name)).isFile())
    .sort()

test('--json: a living holder, a released slot, and a slot of a killed process', async (t) => {
  const before = Date.now()
  const { folder, pids } = await usedFolder(t)
  const found = await rows(t, [folder])
  t.deepEqual(
    found.map(({ group, slot }) => [group, slot]),
    [
      ['default', 0],
      ['default', 1],
      ['default', 2],
    ],
  )
  const [living, ...free] = found
  t.is(living.pid, pids[0])
  t.truthy(living.host)
  t.regex(living.owner, /^[0-9a-f]{32}$/)
  const [since, last] = [living.since, living.last].map((text) => new Date(text).getTime())
  t.true(since >= before - 5 && since <= Date.now(), living.since)
  t.true(last >= before && last <= Date.now(), living.last)
  t.true(new Date(living.hi).getTime() > before)
  for (const slot of free) {
    t.is(slot.owner, undefined, `slot ${slot.slot} is free`)
    t.truthy(slot.last)
  }
})

test('looking changes nothing, and does not block any process', async (t) => {
  const { folder, living } = await usedFolder(t)
  const before = contentsOf(folder)
  const [others, ids] = await Promise.all([Promise.all([1, 2, 3].map(() => rows(t, [folder]))), living.take(1000)])
  for (const found of others) t.is(found.length, 3)
  t.is(ids.length, 1000)
  t.deepEqual(contentsOf(folder), before)
  const next = new Puppet(t)
  await sleep(5)
  t.true([1, 2].includes(await next.call('join', `file:${folder}`, {})), 'the free slots are still free')
})

test('several groups: all of them, or the named one', async (t) => {
  const folder = diskFolder(t)
  const names = ['b', 'a/b', 'default']
  for (const group of names) await new Puppet(t).call('join', `file:${folder}`, { group })
  const all = await rows(t, [folder])
  t.deepEqual(all.map(({ group }) => group).sort(), [...names].sort())
  for (const { slot, owner, last } of all) t.deepEqual([slot, typeof owner, last], [0, 'string', undefined])
  t.deepEqual(
    (await rows(t, [folder, '--group', 'a/b'])).map(({ group }) => group),
    ['a/b'],
  )
})

test('an empty folder, and one with unrelated files in it', async (t) => {
  const folder = diskFolder(t)
  t.deepEqual(await rows(t, [folder]), [])
  t.like(await slots([folder]), { code: 0, stdout: `There are no groups in ${folder}.\n` })
  fs.writeFileSync(path.join(folder, 'notes.txt'), 'hello')
  fs.mkdirSync(path.join(folder, 'groups', '%zz'), { recursive: true })
  fs.writeFileSync(path.join(folder, 'groups', 'file'), 'hello')
  const { code, stderr } = await slots([folder])
  t.true(code === 0 || (code === 1 && /^flakeforge: [^\n]+\n$/.test(stderr)), `${code}: ${stderr}`)
})

test('a damaged slot file: list() reports the other slots, and the damage', async (t) => {
  const { folder, living } = await usedFolder(t)
  const file = path.join(folder, 'default', '1', '1')
  fs.truncateSync(file, 100)
  const error = await t.throwsAsync(lease.fileStore(folder).list('default'), { code: 'ERR_FLAKE_FILE' })
  t.is(error.path, file)
  t.deepEqual(error.faults, [error.message])
  t.deepEqual(
    error.slots.map(({ slot, pid }) => [slot, pid]),
    [
      [0, living.pid],
      [2, undefined],
    ],
  )
})

test('a damaged group does not hide the others', async (t) => {
  const folder = diskFolder(t)
  for (const group of ['a', 'b']) await new Puppet(t).call('join', `file:${folder}`, { group })
  fs.truncateSync(path.join(folder, 'a', '1', 'group'), 100)
  const store = lease.fileStore(folder)
  t.deepEqual(await store.groups(), ['a', 'b'])
  await t.throwsAsync(store.list('a'), { code: 'ERR_FLAKE_FILE' })
  t.is((await store.list('b')).length, 1)
})

test('control characters in a host name are shown, not sent to the terminal; JSON has them unchanged', async (t) => {
  const folder = diskFolder(t)
  const host = 'evil\u001b[31m\u001b]0;pwn\u0007\nfake   7   free\u202e'
  const puppet = new Puppet(t)
  await puppet.call('join', `file:${folder}`, { host })
  const { stdout } = await slots([folder])
  t.is(stdout.trimEnd().split('\n').length, 2, stdout)
  t.true(stdout.includes('on evil\\u{1b}[31m\\u{1b}]0;pwn\\u{7}\\nfake   7   free\\u{202e}'), stdout)
  t.is((await rows(t, [folder]))[0].host, host)
})

test('a user with read access only can look; the files are not readable by all, since reading is enough to lock', async (t) => {
  if (!isRoot) return t.log('SKIPPED: needs the rights of the superuser') || t.pass()
  const { folder, pids } = await usedFolder(t)
  fs.chmodSync(folder, 0o755)
  const files = contentsOf(folder).map((name) => path.join(folder, name))
  for (const file of files) t.is(fs.statSync(file).mode & 0o777, 0o600, file)
  const source = `
    process.setgid(65534)
    process.setuid(65534)
    const store = lease.fileStore('${folder}')
    const list = (await store.list('default')).map(({ slot, pid }) => [slot, pid ?? 0])
    console.log(JSON.stringify({ groups: await store.groups(), list }))
  `
  const list = [0, 1, 2].map((slot) => [slot, slot === 0 ? pids[0] : 0])
  for (const file of files) fs.chmodSync(file, 0o644)
  t.deepEqual(await jsonOfChild(t, source), { groups: ['default'], list })
})

test('without a folder: FLAKEFORGE_STORE, otherwise the default folder', async (t) => {
  const { folder } = await usedFolder(t)
  t.is((await rows(t, [], { FLAKEFORGE_STORE: `file:${folder}` })).length, 3)
  const state = diskFolder(t)
  fs.cpSync(folder, path.join(state, 'flakeforge'), { recursive: true })
  t.is((await rows(t, [], { XDG_STATE_HOME: state })).length, 3)
  t.is(
    (await rows(t, [], { XDG_STATE_HOME: state, FLAKEFORGE_STORE: '' })).length,
    3,
    'empty counts as not set, as for join()',
  )
  t.deepEqual(await rows(t, [], { XDG_STATE_HOME: diskFolder(t) }), [])
})

test('wrong arguments', async (t) => {
  for (const args of [['a', 'b'], ['--nonsense'], ['nonsense://host'], ['--group']]) {
    const { code, stdout, stderr } = await slots(args)
    t.is(code, 2, args.join(' '))
    t.is(stdout, '')
    t.regex(stderr, /^flakeforge: /)
  }
  t.like(await slots(['--help']), { code: 0, stderr: '' })
})
