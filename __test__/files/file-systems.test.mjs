// Disks that become full or read-only, at each call in turn: on every file system that this machine can create in a
// file and mount. Each rejected write is an error with a code, nothing is lost, and with space again IDs continue above
// all earlier ones.

import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import test from 'ava'
import { mayMount, mount, SYSTEMS, shell } from '../../scripts/mounts.mjs'

const require = createRequire(import.meta.url)
const PROGRAM = require.resolve('../workers/full-disk.cjs')

/** A separate file system; undefined, with a message, where it cannot be created. */
function mounted(t, name) {
  try {
    const { root, unmount } = mount(name)
    t.teardown(unmount)
    return root
  } catch (error) {
    if (mayMount && process.env.FLAKEFORGE_REQUIRE_SERVERS === '1') throw error
    console.error(
      `!!! SKIPPED: ${name} cannot be made and mounted here, which needs root and its tools: ${error.message} !!!`,
    )
    t.pass()
    return undefined
  }
}

/** Runs the program to its end; a process ended by a signal has touched a page that the system could not provide. */
function outcome(t, ...args) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8' })
  t.is(signal, null, `${args}: ${stderr}`)
  t.is(status, 0, stderr)
  return JSON.parse(stdout)
}

for (const name of SYSTEMS) {
  test.serial(`${name}: full at each call`, (t) => {
    const root = mounted(t, name)
    if (root === undefined) return
    const { refused, isEnough, wrong } = outcome(t, 'fill', root)
    t.deepEqual(wrong, [])
    t.true(refused > 0, 'it was never full')
    t.true(isEnough, 'it was always full')
  })

  test.serial(`${name}: read-only for a while`, (t) => {
    const root = mounted(t, name)
    if (root === undefined) return
    const before = outcome(t, 'make', root)
    t.deepEqual(before.codes, [])
    shell(`mount -o remount,ro ${root}`)
    t.deepEqual(outcome(t, 'make', root), { ids: [], codes: ['ERR_FLAKE_FILE', 'ERR_FLAKE_FILE'] })
    shell(`mount -o remount,rw ${root}`)
    const after = outcome(t, 'make', root)
    t.deepEqual(after.codes, [])
    for (const [i, id] of after.ids.entries()) t.true(BigInt(id) > BigInt(before.ids[i]))
  })
}
