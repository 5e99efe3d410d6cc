// Files that cannot be shared: each is ERR_FLAKE_FILE with the path, and stays unchanged. All the reasons are in
// core/tests/files/shared_faults.rs, and full disks in file-systems.test.mjs.

import { execFile, execFileSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { FlakeId, jsonOfChild, throwsCode } from '../support/index.mjs'
import { diskFolder, isWindows, notOnWindows, PLACES, Puppet } from '../support/processes.mjs'
import { once } from '../support/waits.mjs'

const PAGE = 4096
const AHEAD = 60_000

let epochs = 0

/** Options for a path; a process uses a node number in only one file, so each file has a different epoch. */
const optionsFor = (shared) => ({ id: 7, epoch: 10_000_000 + epochs++, shared })

/** Asserts that this path is rejected, and returns the error. */
function isRefused(t, shared, pattern) {
  const error = throwsCode(t, () => new FlakeId(optionsFor(shared)), 'ERR_FLAKE_FILE')
  t.true(error?.path?.startsWith(path.dirname(shared)), `${error?.path} for ${shared}`)
  t.true(error?.message.startsWith(error.path), error?.message)
  if (pattern) t.regex(error?.message, pattern)
  return error
}

/** The same for an existing file, which is not changed. */
function isLeftAlone(t, shared, pattern) {
  const [bytes, { mtimeMs, ino }] = [fs.readFileSync(shared), fs.statSync(shared)]
  const error = isRefused(t, shared, pattern)
  t.is(error?.path, shared)
  t.deepEqual(fs.readFileSync(shared), bytes)
  t.like(fs.statSync(shared), { mtimeMs, ino })
  t.deepEqual(
    fs.readdirSync(path.dirname(shared)).filter((name) => name.startsWith('.')),
    [],
  )
}

/** The bytes of a file that another process has created and used. */
async function usedFile(t) {
  const shared = path.join(diskFolder(t), 'used')
  const options = optionsFor(shared)
  const puppet = new Puppet(t)
  await puppet.call('open', options)
  await puppet.take(100)
  await puppet.kill()
  return { bytes: fs.readFileSync(shared), options }
}

// --- contents ---

for (const [place, folder] of Object.entries(PLACES)) {
  test.serial(`a file of another length or kind, ${place}`, async (t) => {
    const { bytes } = await usedFile(t)
    t.is(bytes.length, PAGE)
    const contents = {
      empty: Buffer.alloc(0),
      'one byte short': bytes.subarray(0, PAGE - 1),
      'twice as long': Buffer.concat([bytes, bytes]),
      'a page of text': Buffer.alloc(PAGE, 'hello\n'),
      'a large file': Buffer.alloc(1 << 20, 7),
    }
    const where = folder(t)
    for (const [what, content] of Object.entries(contents)) {
      const shared = path.join(where, what)
      fs.writeFileSync(shared, content)
      isLeftAlone(t, shared)
    }
  })
}

test.serial(
  'any flipped byte: the file is rejected and left unchanged, or IDs continue above the last one; no hang, no crash',
  async (t) => {
    const { bytes, options } = await usedFile(t)
    const last = lastOf(bytes)
    const places = [...range(1536, 1600), ...range(2040, 2080), ...range(2552, 2584), 3071, 3072, 3500, 4095]
    let accepted = 0
    for (const at of places) {
      const damaged = Buffer.from(bytes)
      damaged[at] ^= 0x80
      fs.writeFileSync(options.shared, damaged)
      const { error, number } = await oneNumber(options)
      if (error?.code === 'ERR_FLAKE_FILE') {
        if (!fs.readFileSync(options.shared).equals(damaged)) t.fail(`byte ${at}: rejected, and the file was changed`)
        continue
      }
      // A number that is too high still yields unique IDs, once the clock has reached it.
      if (error !== undefined)
        t.true(
          ['ERR_FLAKE_CLOCK_BACKWARDS', 'ERR_FLAKE_TIME_RANGE'].includes(error.code),
          JSON.stringify({ at, error }),
        )
      else t.true(number > last, `byte ${at}`)
      accepted++
    }
    t.true(accepted > 0)
  },
)

const range = (from, to) => Array.from({ length: to - from }, (_, i) => from + i)
const lastOf = (bytes) => bytes.readBigUInt64LE(2048) - 1n

/** One ID of a separate process, as the number that the cursor gave. */
async function oneNumber(options) {
  const source = `
    const options = ${JSON.stringify(options)}
    try {
      const flake = new FlakeId({ ...options, maxAheadMs: ${AHEAD} })
      const { tick, counter } = flake.decode(flake.next())
      console.log(JSON.stringify({ number: String((tick << 12n) | BigInt(counter)) }))
    } catch ({ code, message, path }) {
      console.log(JSON.stringify({ error: { code, message, path } }))
    }
  `
  const index = path.join(import.meta.dirname, '..', '..', 'dist', 'index.cjs')
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--eval', `const FlakeId = require(${JSON.stringify(index)});${source}`],
    { timeout: 60_000 },
  )
  const { error, number } = JSON.parse(stdout)
  return { error, number: number && BigInt(number) }
}

test.serial('a file that another boot of the machine has used: IDs continue above its mark', async (t) => {
  const { bytes, options } = await usedFile(t)
  const other = Buffer.from(bytes)
  other.fill(0x5a, 1536, 1552)
  fs.writeFileSync(options.shared, other)
  const mark = bytes.readBigUInt64LE(2560)
  const { number } = await oneNumber(options)
  t.true(number > mark, `${number} is not above ${mark}`)
})

// --- things that are not files, and unchangeable files ---

test.serial('a folder, a FIFO, a socket, a device, links to nowhere: no hang', async (t) => {
  if (isWindows) return notOnWindows(t, 'there are no such files')
  const folder = diskFolder(t)
  const at = (name) => path.join(folder, name)
  fs.mkdirSync(at('folder'))
  execFileSync('mkfifo', [at('fifo')])
  fs.symlinkSync('loop-2', at('loop-1'))
  fs.symlinkSync('loop-1', at('loop-2'))
  fs.symlinkSync('nowhere', at('dangling'))
  fs.symlinkSync('folder', at('to-folder'))
  fs.symlinkSync('/dev/null', at('to-device'))
  fs.writeFileSync(at('file'), 'a file')
  const server = net.createServer().listen(at('socket'))
  await once(server, 'listening')
  t.teardown(() => server.close())
  const before = fs.readdirSync(folder)
  const paths = ['folder', 'fifo', 'loop-1', 'dangling', 'to-folder', 'to-device', 'file/ids', 'loop-1/ids', 'socket']
  for (const name of paths) isRefused(t, at(name))
  isRefused(t, '/dev/zero')
  isRefused(t, `${folder}/${'a'.repeat(256)}`)
  isRefused(t, `${folder}/${'a/'.repeat(2100)}ids`)
  t.deepEqual(fs.readdirSync(folder), before)
  t.is(fs.readFileSync(at('file'), 'utf8'), 'a file')
  t.is(fs.readlinkSync(at('dangling')), 'nowhere')
})

test.serial('a folder that is named like a file with a trailing slash', (t) => {
  const folder = diskFolder(t)
  const shared = `${folder}/ids/`
  const flake = new FlakeId(optionsFor(shared))
  flake.next()
  t.deepEqual(fs.readdirSync(folder), ['ids'], 'path.resolve() drops the slash')
})

/** Marks a file with chattr until the test is over; false, with a loud skip, where that does not work. */
function mark(t, flag, file) {
  try {
    execFileSync('chattr', [`+${flag}`, file], { stdio: 'pipe' })
  } catch (error) {
    console.warn(`\n!!! SKIPPED: chattr +${flag} does not work here: ${error.message} !!!\n`)
    t.pass()
    return false
  }
  t.teardown(() => unmark(flag, file))
  return true
}

const unmark = (flag, file) => execFileSync('chattr', [`-${flag}`, file])

for (const flag of ['i', 'a']) {
  test.serial(`a file that even root cannot write: chattr +${flag}`, async (t) => {
    const { bytes, options } = await usedFile(t)
    if (!mark(t, flag, options.shared)) return
    const error = throwsCode(t, () => new FlakeId(options), 'ERR_FLAKE_FILE')
    t.is(error.path, options.shared)
    t.regex(error.message, /immutable or append-only\. Change that, on Linux with chattr -ia/)
    t.deepEqual(fs.readFileSync(options.shared), bytes)
    unmark(flag, options.shared)
    new FlakeId(options).next()
  })
}

const EXT4 = 0xef53

test.serial('a file that becomes immutable while in use ends its generators, and nothing is lost', async (t) => {
  const folder = diskFolder(t)
  const options = optionsFor(path.join(folder, 'ids'))
  if (fs.statfsSync(folder).type !== EXT4) return t.log('SKIPPED: the file system is not ext4') || t.pass()
  const flake = new FlakeId(options)
  const last = flake.nextBigInt()
  if (!mark(t, 'i', options.shared)) return
  execFileSync('sync', [options.shared]) // the next write has to ask the system
  const error = throwsCode(t, () => flake.next(), 'ERR_FLAKE_FILE')
  t.regex(error.message, /truncated or made immutable\. Fix that, and create a new generator/)
  throwsCode(t, () => flake.next(), 'ERR_FLAKE_FILE')
  unmark('i', options.shared)
  const next = await new FlakeId(options).nextAsync() // above everything that the lost generator may have taken
  t.true(next.readBigUInt64BE() > last)
})

// --- open files ---

const hasProc = process.platform === 'linux' // Wine shows its host's

test.serial('10 000 generators, and thousands of rejected ones, leave no descriptor and no mapping', async (t) => {
  if (!hasProc) return t.log('SKIPPED: needs /proc') || t.pass()
  const folder = diskFolder(t)
  fs.writeFileSync(path.join(folder, 'foreign'), 'foreign')
  const source = `
    import fs from 'node:fs'
    const folder = ${JSON.stringify(folder)}
    const turn = () => new Promise((resolve) => setTimeout(resolve, 1))
    const count = async () => {
      for (let i = 0; i < 5; i++) { gc(); await turn() }
      const maps = fs.readFileSync('/proc/self/maps', 'utf8').split('\\n').filter((line) => line.includes(folder)).length
      return { fds: fs.readdirSync('/proc/self/fd').length, maps }
    }
    const refused = (options) => {
      try { new FlakeId(options); return 0 } catch { return 1 }
    }
    let errors = 0
    const work = async (n) => {
      for (let i = 0; i < n; i++) {
        const shared = folder + '/ids-' + (i % 10)
        new FlakeId({ id: 7, epoch: i % 10, shared, maxAheadMs: Infinity }).next()
        if (i % 4 === 0) errors += refused({ id: 7, epoch: 100, shared }) + refused({ id: 7, epoch: 100, shared: folder + '/foreign' })
        if (i % 200 === 0) { gc(); await turn() }
      }
    }
    await work(100)
    const before = await count()
    await work(10000)
    console.log(JSON.stringify({ before, after: await count(), errors }))
  `
  const { before, after, errors } = await jsonOfChild(t, source, ['--expose-gc'])
  t.is(errors, 2 * (25 + 2500))
  t.true(after.fds <= before.fds, `${before.fds} descriptors, then ${after.fds}`)
  t.true(after.maps <= before.maps, `${before.maps} mappings, then ${after.maps}`)
  t.true(after.maps <= 10)
})

test.serial('a file that is no longer used is closed', async (t) => {
  if (!hasProc) return t.log('SKIPPED: needs /proc') || t.pass()
  const folder = diskFolder(t)
  const source = `
    import fs from 'node:fs'
    const folder = ${JSON.stringify(folder)}
    for (let i = 0; i < 100; i++) new FlakeId({ id: 7, epoch: i, shared: folder + '/ids-' + i }).next()
    const open = () => fs.readFileSync('/proc/self/maps', 'utf8').split('\\n').filter((line) => line.includes(folder)).length
    const before = open()
    for (let i = 0; i < 200 && open() > 0; i++) { gc(); await new Promise((resolve) => setTimeout(resolve, 10)) }
    console.log(JSON.stringify([before > 0, open()]))
  `
  t.deepEqual(await jsonOfChild(t, source, ['--expose-gc']), [true, 0])
})
