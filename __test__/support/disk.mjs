// Processes whose syncs are recorded, so that a test can restore what a machine crash leaves of a file on the disk. The
// preloaded library is core/tests/durability/disk.c; the core's own tests also restore folders and torn pages, and make
// syncs fail.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { diskFolder, Puppet } from './processes.mjs'

const SOURCE = fileURLToPath(new URL('../../core/tests/durability/disk.c', import.meta.url))

/**
 * A folder, its journal, and processes on it; undefined, with a message, where nothing can be preloaded or compiled.
 */
export function diskOf(t) {
  if (process.platform !== 'linux') {
    t.log('SKIPPED: only on Linux can a library be preloaded like this')
    t.pass()
    return undefined
  }
  const folder = diskFolder(t)
  const at = (name) => path.join(folder, name)
  const { error, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', at('disk.so'), SOURCE])
  if (error !== undefined) {
    if (process.env.FLAKEFORGE_REQUIRE_SERVERS === '1') throw error
    console.error('SKIPPED: tests of durability: there is no C compiler (cc)')
    t.pass()
    return undefined
  }
  if (!fs.existsSync(at('disk.so'))) throw new Error(`disk.c does not compile: ${stderr}`)
  for (const name of ['files', 'journal']) fs.mkdirSync(at(name))
  const env = (boot = 1) => {
    fs.writeFileSync(at(`boot-${boot}`), `0000000${boot}-0000-4000-8000-000000000000\n`)
    const LD_PRELOAD = [process.env.LD_PRELOAD, at('disk.so')].filter(Boolean).join(' ') // the sanitizer of memcheck first
    return { LD_PRELOAD, DISK_JOURNAL: at('journal'), DISK_BOOT: at(`boot-${boot}`) }
  }
  return {
    folder,
    files: at('files'),
    /** The environment of a process on it, in this boot of the machine. */
    env,
    puppet: ({ boot = 1 } = {}) => new Puppet(t, { env: env(boot) }),
    /** The files as a crash leaves them, in a separate folder. */
    crash() {
      const restored = diskFolder(t)
      fs.cpSync(at('files'), restored, { recursive: true })
      const synced = new Map()
      for (const { what, inode, bytes } of journalOf(at('journal'))) if (what === 'file') synced.set(inode, bytes)
      for (const name of fs.readdirSync(at('files'), { recursive: true })) {
        const { ino } = fs.statSync(path.join(at('files'), name))
        if (fs.statSync(path.join(restored, name)).isFile())
          fs.writeFileSync(path.join(restored, name), synced.get(String(ino)) ?? '')
      }
      return restored
    },
  }
}

function journalOf(folder) {
  const file = path.join(folder, 'journal')
  if (!fs.existsSync(file)) return []
  return fs
    .readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [what, inode, name] = line.split(' ')
      return { what, inode, bytes: fs.readFileSync(path.join(folder, name)) }
    })
}
