// How `npm run platforms` runs Linux builds: which test files it chooses, what it tells the kernel about programs of another
// CPU, and how it reads what a run printed.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'

const require = createRequire(import.meta.url)
const { TARGETS } = require('../../scripts/platforms/targets.js')
const { programsFor } = require('../../scripts/platforms/run/linux.js')
const { packagesFor, registration, runCommand, whyNot } = require('../../scripts/platforms/run/machines.js')
const { avaResult, smokeResult, versionIn } = require('../../scripts/platforms/run/results.js')
const { forEmulators, startsProcesses } = require('../../scripts/platforms/run/test-files.js')
const files = require('../../scripts/test-files.js')

const root = path.join(import.meta.dirname, '..', '..')
const LINUX = TARGETS.filter(({ name }) => name.startsWith('linux-'))

// --- the test files ---

test('what a file imports, in each form', (t) => {
  const text = `
    import a from './a.js'
    import {
      b,
    } from './b.js'
    import './c.js'
    export { d } from './d.js'
    const e = require('./e.js')
    const f = await import('./f.js')
    const g = "from './no'"
  `
  t.deepEqual(files.importsIn(text), ['./a.js', './b.js', './c.js', './d.js', './e.js', './f.js', './no'])
})

test('what a file reaches: through other files, and through a circle', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-imports-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const write = (name, text) => fs.writeFileSync(path.join(folder, name), text)
  write('a.mjs', "import './b.cjs'\nimport 'node:fs'\nimport './missing.js'")
  write('b.cjs', "require('./c')")
  write('c.js', "require('./a.mjs')\nrequire('./data.json')")
  write('data.json', '"require(\'./d.js\')"')
  const names = [...files.reached(path.join(folder, 'a.mjs'))].map((name) => path.basename(name))
  t.deepEqual(names, ['a.mjs', 'b.cjs', 'c.js', 'data.json', 'node:fs', 'missing.js'])
})

test('files that need a server are found, and no other', (t) => {
  const without = files.withoutServers()
  for (const file of files
    .allFiles()
    .filter((each) => !without.includes(each) && /^__test__\/(?:files|generator)\//.test(each)))
    t.fail(`${file} needs no server`)
  for (const file of ['lease/stores/redis.test.mjs', 'lease/join-stores.test.mjs', 'lease/stores/etcd-races.test.mjs'])
    t.false(without.includes(`__test__/${file}`), file) // each by another way
  for (const file of [
    'files/shared-processes.test.mjs',
    'lease/database-store.test.mjs',
    'lease/stores/record-store.test.mjs',
  ])
    t.true(without.includes(`__test__/${file}`), file)
  t.true(without.every((file) => fs.existsSync(path.join(root, file))))
  t.true(files.withoutServers(['command']).includes('__test__/command/cli.test.mjs'))
  t.true(files.withoutServers(['command']).every((file) => file.startsWith('__test__/command/')))
})

test('an emulator runs all of them but those that start processes, and the leases', (t) => {
  const [without, emulated] = [files.withoutServers(), forEmulators()]
  t.true(emulated.every((file) => without.includes(file)))
  t.true(emulated.includes('__test__/generator/take.test.mjs'))
  t.false(emulated.includes('__test__/files/shared-processes.test.mjs'))
  t.false(emulated.includes('__test__/lease/states.test.mjs'))
  for (const file of ['generator/event-loop', 'generator/workers', 'base/timers'])
    t.false(emulated.includes(`__test__/${file}.test.mjs`), file)
  t.true(emulated.length > 15, `${emulated.length} files`)
  t.true(startsProcesses("import { FlakeId, jsonOfChild } from '../support/index.mjs'"))
  t.false(startsProcesses("import { FlakeId } from '../support/index.mjs'"))
})

// --- machines ---

// As qemu-binfmt-conf.sh of QEMU has them.
const REGISTERED = {
  aarch64: '\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00',
  arm: '\\x7fELF\\x01\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x28\\x00',
  ppc64le: '\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x15\\x00',
  riscv64: '\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xf3\\x00',
  s390x: '\\x7fELF\\x02\\x02\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x16',
}
const MASKS = {
  LE: '\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff',
  BE: '\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff',
}

/** The escapes as bytes; `\x7fELF` and `\x7f\x45\x4c\x46` are the same. */
const bytesOf = (text) =>
  text.replace(/\\x([0-9a-f]{2})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)))

for (const [cpu, magic] of Object.entries(REGISTERED)) {
  test(`how programs for ${cpu} are recognised`, (t) => {
    const fields = registration(cpu, '/usr/bin/qemu').split(':')
    t.deepEqual([fields[0], fields[2], fields[3], fields[6], fields[7]], ['', 'M', '', '/usr/bin/qemu', 'F'])
    t.is(bytesOf(fields[4]), bytesOf(magic))
    t.is(bytesOf(fields[5]), bytesOf(cpu === 's390x' ? MASKS.BE : MASKS.LE))
    t.false(/[\n\0]/.test(fields.join(':')), 'a shell passes it on as it is')
  })
}

for (const { name, qemu } of LINUX) {
  test(`what ${name} runs with`, (t) => {
    const programs = programsFor({ name })
    t.true(programs.length > 0)
    if (name === 'linux-x64-gnu') return // this machine, and the list of scripts/runtimes.js
    for (const { from, runs } of programs) {
      t.true(runs.includes('smoke'))
      t.is(packagesFor({ name, qemu }).includes('nodejs'), from === 'debian')
    }
    t.is(packagesFor({ name, qemu }).includes('musl'), name.endsWith('-musl'))
  })
}

test('an old Linux is told what is missing', (t) => {
  for (const release of ['6.7.0', '6.18.44-x', '7.0.1', '10.2']) t.is(whyNot(release), undefined, release)
  for (const release of ['6.6.99', '5.15.0-generic', '4.19'])
    t.regex(whyNot(release), new RegExp(`Linux 6\\.7 .* ${release}`))
})

// --- what came of a run ---

const SMOKE = 'flakeforge works on node 24.11.1: 4250 checks\n'

test('the result of a smoke test', (t) => {
  t.like(smokeResult({ status: 0, output: SMOKE }), { passed: 4250, failed: 0 })
  const bad = {
    'a crash': [139, 'qemu: uncaught target signal 11'],
    'a failed check': [1, 'Error: tick'],
    nothing: [0, ''],
  }
  for (const [what, [status, output]] of Object.entries(bad))
    t.deepEqual(smokeResult({ status, output }), { passed: 0, failed: 1, output }, what)
  t.like(smokeResult({ status: null, output: SMOKE }), { passed: 4250, failed: 1 }, 'it passed, and did not end')
})

const tap = (pass, fail, more = '') =>
  `TAP version 13\nok 1 - a test\n${more}\n1..2\n# tests 2\n# pass ${pass}\n# fail ${fail}\n`

test("the result of AVA's tests", (t) => {
  t.like(avaResult({ status: 0, output: tap(2, 0) }), { passed: 2, failed: 0 })
  const failed = avaResult({
    status: 1,
    output: tap(1, 1, 'not ok 2 - a bad one\n  ---\n    message: too early\n  ...'),
  })
  t.like(failed, { passed: 1, failed: 1 })
  t.regex(failed.output, /^a bad one\nmessage: too early$/m)
  t.like(avaResult({ status: null, output: 'TAP version 13\nok 1 - a test\nended by SIGKILL' }), {
    passed: 0,
    failed: 1,
  })
  t.like(avaResult({ status: 1, output: tap(2, 0) }), { passed: 2, failed: 1 }, 'all passed, and the process failed')
  t.like(avaResult({ status: 0, output: tap(0, 0) }), { failed: 1 }, 'no test at all')
})

test('the version of a program', (t) => {
  t.is(versionIn('v20.19.2\n'), '20.19.2')
  t.is(versionIn('deno 2.9.6 (stable, release)\nv8 14.5.1'), '2.9.6')
  t.is(versionIn('Segmentation fault'), '?')
})

test('a command that hangs is ended, with its output', async (t) => {
  const options = { env: process.env, timeoutMs: 300 }
  const { status, output } = await runCommand([process.execPath, '--eval', 'setInterval(() => {}, 1000)'], options)
  t.is(status, null)
  t.regex(output, /ended by SIGKILL after \d+ s; it may take 0\.3 s$/)
  t.like(
    await runCommand([process.execPath, '--eval', 'console.log(1); process.exit(3)'], {
      ...options,
      timeoutMs: 60_000,
    }),
    {
      status: 3,
      output: '1\n',
    },
  )
  const missing = await runCommand(['no-such-program'], options)
  t.not(missing.status, 0)
  t.regex(missing.output, /no-such-program/)
})
