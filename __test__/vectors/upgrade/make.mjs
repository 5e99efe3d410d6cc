// How the files beside this one were made: `node __test__/vectors/upgrade/make.mjs BUILD`, where BUILD is a folder with the
// version of flakeforge whose files they are. They belong to that version forever: make new ones in another folder.
//
// All of it happens in 2090: whoever begins a cursor or a group again, and not above what is written here,
// makes IDs of his own time, and that shows.

import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)

const here = path.dirname(fileURLToPath(import.meta.url))
const NOW = Date.UTC(2090, 0)
const GROUP = { group: 'orders', slots: 2, host: 'vector' }
const COUNTER = { name: 'invoices', block: 100 }

const write = (name, value) => fs.writeFileSync(path.join(here, name), `${JSON.stringify(value, undefined, 2)}\n`)

/** Takes a slot, some IDs and a block, and gives nothing back, as a process that is killed. */
async function use({ FlakeId, lease }, store, options) {
  const flake = await FlakeId.join(store, options)
  const last = String(flake.takeBigInts(10).at(-1))
  const segment = await lease.SegmentId.open(store, COUNTER)
  return { options, counter: COUNTER, slot: flake.slot, last, lastOfCounter: String(segment.nextBigInt()) }
}

async function makeFiles(build) {
  const shared = path.join(here, 'shared')
  const folder = path.join(here, 'folder')
  for (const old of [shared, folder]) fs.rmSync(old, { recursive: true, force: true })
  const options = { id: 7, maxAheadMs: Number.POSITIVE_INFINITY }
  const flake = new build.FlakeId({ ...options, shared })
  const last = String(flake.takeBigInts(10).at(-1))
  const used = await use(build, `file:${folder}`, GROUP)
  write('files.json', { shared: { id: 7, last }, folder: used })
}

/** All of this process, in 2090. */
async function makeAll(folder) {
  const build = { FlakeId: require(folder), lease: require(path.join(folder, 'dist', 'lease.cjs')) }
  await makeFiles(build)
  process.kill(process.pid, 'SIGKILL') // nothing is given back
}

/** A clock that is ahead, for programs that do not bear libfaketime, as Redis. */
const CLOCK = `
  #define _GNU_SOURCE
  #include <stdlib.h>
  #include <sys/syscall.h>
  #include <sys/time.h>
  #include <time.h>
  #include <unistd.h>

  static long ahead(void) {
    const char *seconds = getenv("MAKE_AHEAD_S");
    return seconds ? atol(seconds) : 0;
  }
  int clock_gettime(clockid_t id, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, id, now);
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) now->tv_sec += ahead();
    return failed;
  }
  int gettimeofday(struct timeval *now, void *zone) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    *now = (struct timeval){ time.tv_sec, time.tv_nsec / 1000 };
    return 0;
  }
  time_t time(time_t *to) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    if (to) *to = time.tv_sec;
    return time.tv_sec;
  }`

function makeAhead(script, folder) {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-vectors-'))
  const library = path.join(temporary, 'clock.so')
  execFileSync('cc', ['-shared', '-fPIC', '-x', 'c', '-', '-o', library], { input: CLOCK })
  fs.chmodSync(temporary, 0o755) // PostgreSQL runs as another user
  const seconds = Math.round((NOW - Date.now()) / 1000)
  const env = { ...process.env, LD_PRELOAD: library, MAKE_AHEAD_S: String(seconds) }
  spawnSync(process.execPath, [script, folder], { env, stdio: 'inherit' })
  fs.rmSync(temporary, { recursive: true })
}

const [, script, folder] = process.argv
if (folder === undefined) {
  console.error('usage: node make.mjs BUILD')
  process.exitCode = 2
} else if (process.env.MAKE_AHEAD_S === undefined) makeAhead(script, path.resolve(folder))
else await makeAll(folder)
