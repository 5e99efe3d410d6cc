// A sync may take a second. Meanwhile the event loop and the other threads go on: these processes end the wait themselves,
// and never end if they wait where they should not.

import { spawn } from 'node:child_process'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { diskOf } from '../support/disk.mjs'
import { once } from '../support/waits.mjs'

const SCRIPT = fileURLToPath(new URL('../workers/hung-disk.cjs', import.meta.url))

const WHAT = {
  join: 'the first join() of a folder',
  slot: 'join() of a group, for a new slot',
  create: 'createGroup()',
  destroy: 'the end of a group',
  block: 'the next block of a SegmentId',
  pool: 'several join() at once leave threads for other work',
  thread: 'a shared file that another thread opens',
}

for (const [what, title] of Object.entries(WHAT)) {
  test(`a disk that hangs does not stop the event loop: ${title}`, async (t) => {
    const disk = diskOf(t)
    if (disk === undefined) return
    const env = { ...process.env, ...disk.env(), DISK_HANGS: path.join(disk.folder, 'hangs') }
    const child = spawn(process.execPath, [SCRIPT, what, disk.files], { env, timeout: 60_000 })
    const [out, errors, [code, signal]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ])
    t.is(`${out}${errors}`, 'done', `ended with ${signal ?? code}`)
  })
}
