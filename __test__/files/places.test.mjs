// Files in unusual places, and files that are in use: each system has its own rules for both, Windows the most.
// Everything here holds everywhere, unless a test says otherwise.

import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { run } from '../support/command.mjs'
import { FlakeId, isAscending, lease } from '../support/index.mjs'
import { joinAs, leaseOptions } from '../support/lease.mjs'
import { diskFolder, isKept, isWindows, Puppet } from '../support/processes.mjs'
import { once } from '../support/waits.mjs'

const { fileStore } = lease

/** A path of more than 260 characters, the former limit of Windows. */
const deep = (folder) => path.join(folder, ...Array.from({ length: 6 }, (_, i) => `${i}-${'d'.repeat(60)}`))

const PLACES = {
  'with spaces': (folder) => path.join(folder, ' one two', 'three  four'),
  'not in ASCII': (folder) => path.join(folder, 'Zähler', '東京', 'идентификаторы', '🦜'),
  'with characters that shells and URLs interpret': (folder) =>
    path.join(folder, "a%20b&c#d'e;f=g+h[i](j)$k!l@m,n^o`p~q"),
  'of more than 260 characters': deep,
}

for (const [what, placeIn] of Object.entries(PLACES)) {
  test(`a path ${what}: a slot, its list, a shared file and a counter`, async (t) => {
    const folder = placeIn(diskFolder(t))
    const puppet = new Puppet(t)
    t.is(await puppet.call('join', `file:${folder}`, { group: 'orders' }), 0)
    const [held] = await fileStore(folder).list('orders')
    t.is(held.pid, await puppet.call('pid'))
    t.regex(held.owner, /^[0-9a-f]{32}$/)
    await puppet.call('close')
    const [free] = await fileStore(folder).list('orders')
    t.is(free.owner, undefined)

    const shared = path.join(folder, 'shared', 'ids')
    await puppet.call('open', { id: 7, shared, maxWaitMs: 1000 })
    const other = new Puppet(t)
    await other.call('open', { id: 7, shared, maxWaitMs: 1000 })
    t.true(isAscending([...(await puppet.take(5)), ...(await other.take(5)), ...(await puppet.take(5))]))
    t.deepEqual(fs.readdirSync(path.dirname(shared)), ['ids'], 'no temporary file is left')

    t.is((await fileStore(folder).advance('c', 5n, 7n)).number, 7n)
    t.is((await fileStore(folder).advance('c', 5n)).number, 12n)
  })
}

test('folders, files as folders and names that are too long are rejected, and nothing is created', (t) => {
  const folder = diskFolder(t)
  const [file, taken] = ['file', 'folder'].map((name) => path.join(folder, name))
  fs.writeFileSync(file, 'a file')
  fs.mkdirSync(taken)
  for (const [shared, why] of [
    [taken, /is a folder/],
    [path.join(file, 'ids'), /is not a folder|a file, not a folder/],
    [path.join(folder, 'a'.repeat(256)), /too long/],
  ]) {
    const error = t.throws(() => new FlakeId({ id: 7, shared }), { code: 'ERR_FLAKE_FILE' }, shared)
    t.regex(error?.message ?? '', why)
  }
  t.deepEqual(fs.readdirSync(folder).sort(), ['file', 'folder'])
  t.is(fs.readFileSync(file, 'utf8'), 'a file')
})

// --- files in use ---

test('held slots are listed with their holders, and all users can read their files', async (t) => {
  const folder = diskFolder(t)
  const puppets = [new Puppet(t), new Puppet(t)]
  for (const puppet of puppets) await puppet.call('join', `file:${folder}`, { host: 'wing' })
  const pids = await Promise.all(puppets.map((puppet) => puppet.call('pid')))
  const rows = await fileStore(folder).list('default')
  t.deepEqual(
    rows.map(({ slot, owner, host, pid }) => ({ slot, held: owner !== undefined, host, pid })),
    pids.map((pid, slot) => ({ slot, held: true, host: 'wing', pid })),
  )
  for (const slot of ['0', '1']) t.is(fs.readFileSync(path.join(folder, 'default', '1', slot)).length, 4096)

  const { code, stdout, stderr } = await run(['slots', `file:${folder}`])
  t.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  for (const pid of pids) t.true(stdout.includes(String(pid)), stdout)

  await puppets[0].kill()
  t.deepEqual(
    (await fileStore(folder).list('default')).map(({ owner }) => owner !== undefined),
    [false, true],
    'the system releases what a killed process held',
  )
})

test('Windows keeps the file of a held slot, and a shared one, in their place', async (t) => {
  if (!isWindows) return t.log('SKIPPED: only Windows does that') || t.pass()
  const folder = diskFolder(t)
  const shared = path.join(folder, 'ids')
  const [holder, sharer] = [new Puppet(t), new Puppet(t)]
  await holder.call('join', `file:${folder}`, {})
  await sharer.call('open', { id: 7, shared })
  for (const file of [path.join(folder, 'default', '1', '0'), path.join(folder, 'default', '1', 'group'), shared]) {
    isKept(t, () => fs.unlinkSync(file), file)
    isKept(t, () => fs.renameSync(file, `${file}-old`), file)
    t.throws(() => fs.truncateSync(file, 100), undefined, file)
    t.is(fs.readFileSync(file).length, 4096)
  }
  t.is((await holder.take(5)).length, 5)
  t.is((await sharer.take(5)).length, 5)
  await Promise.all([holder.kill(), sharer.kill()])
  fs.rmSync(folder, { recursive: true })
  t.false(fs.existsSync(folder), 'no process holds anything any more')
})

test('a destroyed group starts again while its members still run', async (t) => {
  const folder = diskFolder(t)
  const options = leaseOptions({ slots: 2 })
  const old = await joinAs(t, `file:${folder}`, options)
  const last = old.nextBigInt()
  await fileStore(folder).destroy('default')
  const flake = await joinAs(t, `file:${folder}`, { ...options, slots: 3 })
  t.true((await flake.nextAsync()).readBigUInt64BE() > last)
})

// --- a single mounted file ---

const mayMount = process.platform === 'linux' && spawnSync('unshare', ['-m', 'true']).status === 0

/**
 * Opens a shared file; after a line on stdin it generates IDs until it has to stop, and tries to open the file again.
 */
const MOUNTED = `
  const FlakeId = require('flakeforge')
  const options = { id: 7, shared: process.argv[1] }
  const flake = new FlakeId(options)
  console.log(flake.nextBigInt())
  const codeOf = (call) => { try { call() } catch (error) { return error } }
  process.stdin.once('data', () => {
    const look = setInterval(() => {
      const { code, message } = codeOf(() => flake.next()) ?? {}
      if (code === undefined || code === 'ERR_FLAKE_OVERFLOW') return
      clearInterval(look)
      const again = codeOf(() => new FlakeId(options))
      console.log(JSON.stringify({ code, message, again: again?.message }))
      process.exit()
    }, 5)
  })
`

const mounting = mayMount ? test : test.skip

mounting('(with mounts only) a single mounted file that is removed outside gives no more IDs', async (t) => {
  const folder = diskFolder(t)
  const [file, mounted] = ['ids', 'mounted'].map((name) => path.join(folder, name))
  new FlakeId({ id: 7, shared: file }).next()
  fs.writeFileSync(mounted, '')
  const script = 'mount --bind "$1" "$2" && exec "$3" -e "$4" "$2"'
  const child = spawn('unshare', ['-m', 'sh', '-c', script, 'sh', file, mounted, process.execPath, MOUNTED], {
    cwd: path.join(import.meta.dirname, '../..'),
    timeout: 60_000,
  })
  let said = ''
  child.stdout.on('data', (text) => {
    said += text
  })
  await once(child.stdout, 'data')
  fs.rmSync(file)
  child.stdin.end('go\n')
  await once(child, 'close')
  const { code, message, again } = JSON.parse(said.trim().split('\n')[1])
  t.is(code, 'ERR_FLAKE_FILE')
  t.regex(message, /was removed/)
  t.regex(again, /was removed outside of this container or mount.*Mount the folder that contains the file/)
})

// --- without the ID of the boot ---

test('where nothing identifies the boot, a restart continues past the mark, unless another process is running', async (t) => {
  // Linux and macOS identify the boot; core/tests covers systems that cannot.
  if (!isWindows) return t.log('SKIPPED: this system identifies the boot') || t.pass()
  const options = { id: 7, shared: path.join(diskFolder(t), 'ids'), maxAheadMs: 60_000 }
  const [first, second, third] = [new Puppet(t), new Puppet(t), new Puppet(t)]
  await first.call('open', options)
  const [one] = await first.take(1)
  await second.call('open', options)
  const [two] = await second.take(1)
  t.true(two > one && two - one < 1n << 34n, 'less than 4 s: the first process has answered')
  await Promise.all([first.kill(), second.kill()])
  const mark = fs.readFileSync(options.shared).readBigUInt64LE(2560)
  await third.call('open', options)
  const [three] = await third.take(1)
  t.true((three >> 22n) * 4096n > mark - 4096n, 'past the mark')
})
