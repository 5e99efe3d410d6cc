// `npm run memcheck` without the sanitizer: what it reads out of a report, which tests it chooses, and what it says where
// something is missing. That it finds mistakes, the command shows by itself each time.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'

const require = createRequire(import.meta.url)
const { findingsOf, growthOf } = require('../../scripts/memcheck/reports.js')

const root = path.join(import.meta.dirname, '..', '..')

const NODE = '    #1 node::Start(int, char**) <null> [/usr/bin/node]'
const OURS = '    #1 intern src/table.rs:120 [/a/flakeforge.linux-x64-gnu.node]'
const GONE = '    #1 <null> <null> [<null>]'
const REFERENCE = '    #1 napi_create_reference <null> [/usr/bin/node]'
const CLASSES = '    #2 register_classes src/module_register.rs:1225 [/a/flakeforge.linux-x64-gnu.node]'

const CELL =
  '    #2 new<core::cell::Cell<*mut dyn core::ops::function::FnOnce<(), Output=()>>> sync.rs:422 [/a/flakeforge.node]'
const CONSTRUCT = '    #3 _construct<2, false, flakeforge::layout::Layout> /c/callback_info.rs:124 [/a/flakeforge.node]'
const NEW_INSTANCE = '    #3 new_instance_raw src/bindgen_runtime/js_values/class.rs:345 [/a/flakeforge.node]'
const HEAP = '    #1 v8::internal::Map::SetInstanceDescriptors(v8::internal::Isolate*) <null> [/usr/bin/node]'

const stack = (...lines) => ['    #0 malloc x.cpp:69 [/usr/lib/libasan.so.8]', ...lines].join('\n')
const leak = (bytes, ...lines) =>
  `Direct leak of ${bytes} byte(s) in 1 object(s) allocated from:\n${stack(...lines)}\n\n`
const leaks = (...all) => `\n====\n==5==ERROR: LeakSanitizer: detected memory leaks\n\n${all.join('')}SUMMARY: x\n`

test('an error is found wherever it happened, with all that the sanitizer says of it', (t) => {
  const text = `==5==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\nREAD of size 8\n${NODE}\n`
  t.deepEqual(findingsOf(`\n=====\n${text}`), [text])
  t.deepEqual(findingsOf(''), [])
})

test('of leaks, those count that an addon or something unloaded left, and those without a stack', (t) => {
  const found = (text) => findingsOf(text).map((finding) => finding.match(/of (\d+) byte/)[1])
  const none = 'Direct leak of 5 byte(s) in 1 object(s) allocated from:\n\n'
  t.deepEqual(
    found(leaks(leak(1, NODE), leak(2, OURS, NODE), leak(3, GONE, NODE), leak(4, NODE, GONE), leak(6, GONE), none)),
    ['2', '3', '5'],
  )
  t.deepEqual(found(leaks(leak(1, OURS)).replace('Direct', 'Indirect')), ['1'])
})

test('a leak that is known to be of another is left out, and nothing like it', (t) => {
  t.deepEqual(findingsOf(leaks(leak(40, REFERENCE, CLASSES))), [])
  t.is(findingsOf(leaks(leak(40, REFERENCE, OURS))).length, 1)
  t.is(findingsOf(leaks(leak(40, OURS, CLASSES))).length, 1)
  t.deepEqual(
    findingsOf(leaks(leak(32, CELL, CONSTRUCT, OURS), leak(32, CELL, NEW_INSTANCE, OURS), leak(128, HEAP, OURS))),
    [],
  )
  t.is(
    findingsOf(leaks(leak(32, CELL, OURS), leak(32, CONSTRUCT, OURS), leak(128, OURS, HEAP.replace('#1', '#2'))))
      .length,
    3,
  )
})

/** A profile: `bytes` by us, and some by Node. */
const profile = (bytes, line = OURS) =>
  `Live Heap Allocations: 9 bytes in 9 chunks; showing\n999 byte(s) (9%) in 9 allocation(s)\n${stack(NODE)}\n\n` +
  `${bytes} byte(s) (1%) in 1 allocation(s)\n${stack(line)}\n\n`

test('what grows by 8 bytes per round is found, and what Node takes is not', (t) => {
  const subjects = [{ name: 'generators', rounds: 100 }]
  const grown = (...profiles) => growthOf(profiles.join(''), subjects)
  t.deepEqual(grown(profile(50), profile(849)), [])
  const [finding, ...more] = grown(profile(50), profile(850))
  t.deepEqual(more, [])
  t.true(finding.startsWith('generators: 800 bytes more after 100 rounds'))
  t.true(finding.includes('src/table.rs:120'))
  const elsewhere = OURS.replace('120', '121')
  t.is(grown(profile(50), profile(850, elsewhere)).length, 1)
  t.deepEqual(grown(profile(5000), profile(5000, elsewhere)), [], 'what another place gave back')
})

test('counts that are missing or empty are no proof', (t) => {
  const subjects = [{ name: 'generators', rounds: 100 }]
  t.throws(() => growthOf(profile(50), subjects), { message: /1 profiles of 1 subjects/ })
  t.throws(() => growthOf(profile(50, NODE) + profile(50, NODE), subjects), { message: /no memory of ours/ })
})

const linuxTest = process.platform === 'linux' ? test : test.skip

/** Runs the command where these are all programs, each a shell script. */
function memcheck(t, programs) {
  const bin = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-memcheck-'))
  t.teardown(() => fs.rmSync(bin, { recursive: true }))
  for (const [name, text] of Object.entries(programs))
    fs.writeFileSync(path.join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  const script = path.join(root, 'scripts', 'memcheck', 'index.js')
  const { status, stderr } = spawnSync(process.execPath, [script], { env: { PATH: bin, HOME: bin }, encoding: 'utf8' })
  return { status, lines: stderr.trimEnd().split('\n') }
}

linuxTest('what is missing is one line that says how to get it', (t) => {
  const rust = { cargo: 'echo cargo 1.95.0', rustc: 'echo rustc 1.95.0' }
  for (const [programs, wanted] of [
    [{}, /needs Rust .*rustup/],
    [rust, /memcheck needs gcc: .*Debian/],
    [{ ...rust, gcc: 'echo libasan.so' }, /memcheck needs libasan, .*Debian/],
  ]) {
    const { status, lines } = memcheck(t, programs)
    t.is(status, 1)
    t.is(lines.length, 1, lines.join('\n'))
    t.regex(lines[0], wanted)
  }
})
