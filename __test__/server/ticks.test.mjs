// What keeps process.nextTick() fast, in a separate process in which V8 reports whether objects have the same hidden
// class.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import test from 'ava'

const TICKS = fileURLToPath(new URL('../../target/rooms/packages/server/lib/http/ticks.js', import.meta.url))

test("the hidden class of the objects in Node's queue survives garbage collections, and no hook is left behind", (t) => {
  const script = `
    const { createHook } = require('node:async_hooks')
    const kept = require(process.argv[1]).keepTicksFast()
    const before = Object.keys(kept).length
    setImmediate(() => {
      gc()
      let next
      const hook = createHook({ init: (id, type, trigger, resource) => { if (type === 'TickObject') next = resource } })
      hook.enable()
      process.nextTick(() => {})
      hook.disable()
      process.nextTick(() => console.log(before > 0, kept !== next, %HaveSameMap(kept, next)))
    })`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', '--allow-natives-syntax', '-e', script, TICKS],
    { encoding: 'utf8' },
  )
  t.is(stdout, 'true true true\n', stderr)
})
