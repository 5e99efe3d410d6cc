// `npm test` itself: its output and its exit status. In a folder with its script, a small crate and a few ava tests, of
// which some fail, run by the real cargo and the real ava.

import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import anyTest from 'ava'
import { once, until } from '../support/waits.mjs'

const { QUICK, choose } = createRequire(import.meta.url)('../../scripts/test-files.js')
const root = path.join(import.meta.dirname, '..', '..')
const test = spawnSync('cargo', ['--version']).status === 0 ? anyTest : anyTest.skip

const FILES = {
  'Cargo.toml': '[workspace]\nmembers = ["core", "core/loom"]\nresolver = "3"\n',
  'core/Cargo.toml': `[package]\nname = "flakeforge-core"\nversion = "0.0.0"\nedition = "2024"\n`,
  'core/loom/Cargo.toml': `[package]\nname = "flakeforge-core-loom"\nversion = "0.0.0"\nedition = "2024"
[lints.rust]\nunexpected_cfgs = { level = "warn", check-cfg = ["cfg(flakeforge_loom)"] }\n`,
  'Cargo.lock': `version = 4\n\n[[package]]\nname = "flakeforge-core"\nversion = "0.0.0"\n
[[package]]\nname = "flakeforge-core-loom"\nversion = "0.0.0"\n`,
  'package.json': JSON.stringify({
    ava: { files: ['__test__/**/*.test.mjs'], workerThreads: false, require: ['./scripts/ava-end.js'] },
  }),
  'core/src/lib.rs': '',
  'core/tests/rules/main.rs': '#[test]\nfn a_rule() {}\n',
  'core/loom/src/lib.rs': '#![cfg(flakeforge_loom)]\n#[test]\nfn a_model() {}\n',
  '__test__/a.test.mjs': `import test from 'ava'\ntest('one', (t) => t.pass())\ntest.skip('skipped', (t) => t.pass())\n`,
  '__test__/b.test.mjs': `import test from 'ava'\ntest('two', (t) => t.pass())\n`,
}

let temp

anyTest.before(() => {
  temp = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-test-command-'))
})

anyTest.after.always(() => fs.rmSync(temp, { recursive: true }))

/** A folder with the script and these files, and the options of a process that runs it there. */
function project(more, env = {}) {
  const folder = fs.mkdtempSync(path.join(temp, 'project-'))
  for (const [name, text] of Object.entries({ ...FILES, ...more })) {
    fs.mkdirSync(path.join(folder, path.dirname(name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), text)
  }
  fs.mkdirSync(path.join(folder, 'scripts'))
  for (const script of ['test.js', 'test-files.js', 'ava-output.js', 'ava-end.js'])
    fs.copyFileSync(path.join(root, 'scripts', script), path.join(folder, 'scripts', script))
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction')

  const { CI: _, NODE_ENV: __, AVA_PATH: ___, ...outside } = process.env
  return {
    cwd: folder,
    encoding: 'utf8',
    env: { ...outside, CARGO_TARGET_DIR: path.join(temp, 'target'), ...env },
  }
}

/** Runs the script in a folder with these files: its output, its last line and its status. */
function npmTest(more, env, words = []) {
  const options = project(more, env)
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/test.js', ...words], options)
  return { status, stdout, stderr, lines: stdout.trimEnd().split('\n') }
}

/** The lines that say where a run is: how many files there are, and each end of one without its time. */
const placesIn = (lines) =>
  lines.flatMap(
    (line) => line.match(/^\d+ (?:of \d+ files: (?:.*)(?=: ended after [\d.]+ s$)|test files?\b.*)/)?.[0] ?? [],
  )

const PARTS = {
  '__test__/servers/server.mjs': 'export const port = 0\n',
  '__test__/servers/redis.mjs': `export { port } from './server.mjs'\n`,
  '__test__/layout/bits.test.mjs': `import test from 'ava'\nimport '../servers/server.mjs'\ntest('bits', (t) => t.pass())\n`,
  '__test__/lease/store.test.mjs': `import test from 'ava'\nimport '../servers/redis.mjs'\ntest('store', (t) => t.pass())\n`,
  '__test__/lease/rules.test.mjs': `import test from 'ava'\ntest('rules', (t) => t.pass())\n`,
  'core/tests/lease/main.rs': '#[test]\nfn a_slot() {}\n#[test]\nfn another() {}\n',
  'core/tests/model/main.rs': '#[test]\nfn any_order() {}\n',
}

const FAILING = {
  'core/tests/broken.rs': `#[test]\nfn breaks() { assert_eq!(1 + 1, 3, "arithmetic") }\n#[test]\nfn holds() {}\n`,
  '__test__/c.test.mjs': `import test from 'ava'\ntest('three', (t) => t.is('left', 'right'))\ntest.failing('known', (t) => t.fail())\n`,
}

test.serial('each test as ava shows it, the results of cargo, and the counts alone on the last line', (t) => {
  const { status, stdout, lines } = npmTest({})
  t.is(status, 0, stdout)
  t.is(lines.at(-1), '4 passed, 0 failed')
  t.regex(stdout, /^ *[✔√] b › two$/m)
  t.is(stdout.match(/^test result: ok\. 1 passed/gm).length, 2)
  t.notRegex(stdout, /^test .*\.\.\. ok/m)
})

test.serial('where it is: the number of files and the usual time at the start, and a line when a file ends', (t) => {
  const { stdout, lines } = npmTest({})
  const [first, ...ends] = placesIn(lines)
  t.regex(first, /^2 test files, usually \d+ minutes on two cores\.$/)
  t.deepEqual(
    ends.map((line) => line.replace(/[ab]$/, '')),
    ['1 of 2 files: ', '2 of 2 files: '],
    stdout,
  )
  t.deepEqual(ends.map((line) => line.at(-1)).sort(), ['a', 'b'])
})

test.serial('a part: a folder in both suites, or a file', (t) => {
  const folder = npmTest(PARTS, {}, ['lease'])
  t.is(folder.lines.at(-1), '4 passed, 0 failed', folder.stdout)
  t.is(placesIn(folder.lines)[0], '2 test files.')
  t.deepEqual(folder.stdout.match(/^\$ cargo .*/gm), [
    '$ cargo test --locked --no-fail-fast --package flakeforge-core --test lease',
  ])
  for (const word of ['lease/rules', '__test__/lease/rules.test.mjs']) {
    const file = npmTest(PARTS, {}, [word])
    t.deepEqual(placesIn(file.lines), ['1 test file.', '1 of 1 files: lease/rules'])
    t.is(file.lines.at(-1), '1 passed, 0 failed')
    t.notRegex(file.stdout, /cargo/)
  }
})

test.serial('--quick runs what needs no server and is no model, of a part as well', (t) => {
  const all = npmTest(PARTS, {}, ['--quick'])
  t.deepEqual(
    placesIn(all.lines)
      .slice(1)
      .map((line) => line.replace(/^.*: /, ''))
      .sort(),
    ['layout/bits', 'lease/rules'],
  )
  t.is(all.lines.at(-1), '5 passed, 0 failed', all.stdout) // with the rules and slots of the core
  const part = npmTest(PARTS, {}, ['lease', '--quick'])
  t.is(part.lines.at(-1), '3 passed, 0 failed', part.stdout)
})

test.serial('a part that does not exist, or has no quick test, is an error, not a run of nothing', (t) => {
  for (const [words, message] of [
    [['leases'], /^There are no tests 'leases'\. Parts are .*layout, lease, model, rules, and files such as/],
    [['model', '--quick'], /^Each test of model needs a server or is a model, so --quick runs none\.$/m],
    [['--fast'], /--fast/],
  ]) {
    const { status, stdout, stderr } = npmTest(PARTS, {}, words)
    t.deepEqual([status, stdout], [2, ''])
    t.regex(stderr, message)
  }
})

test('tests without servers are found in each folder that --quick runs, and none of those with servers', (t) => {
  const { files } = choose([], true)
  const folders = new Set(files.map((file) => file.split('/')[1]))
  t.deepEqual([...folders].sort(), [...QUICK].sort())
  for (const file of ['generator/take', 'layout/format', 'files/shared-files', 'lease/faults', 'command/audit'])
    t.true(files.includes(`__test__/${file}.test.mjs`), file)
  for (const file of ['stores/redis', 'lease/join-stores', 'remote/browser', 'metrics/leases'])
    t.false(files.includes(`__test__/${file}.test.mjs`), file)
})

test.serial('failures are shown with their output, and named once more before the last line', (t) => {
  const { status, stdout, lines } = npmTest(FAILING)
  t.is(status, 1)
  t.is(lines.at(-1), '6 passed, 2 failed')
  const [ava, cargo] = lines.slice(lines.indexOf('What failed:') + 1)
  t.regex(ava, /^ *[✘×] \[fail\]: c › three/)
  t.is(cargo, 'test breaks ... FAILED')
  t.regex(stdout, /^ *[✘×] \[fail\]: c › three/m)
  t.regex(stdout, /'right'/)
  t.regex(stdout, /^---- breaks stdout ----$/m)
  t.regex(stdout, /^ *assertion `left == right` failed: arithmetic$/m)
})

test.serial('a failure is shown whatever its error contains', (t) => {
  const odd = `const error = Object.assign(new Error('odd'), { at: undefined, big: 1n, stack: 'Error: odd' }); throw error`
  const { status, stdout, lines } = npmTest({
    '__test__/c.test.mjs': `import test from 'ava'\ntest('three', () => { ${odd} })\n`,
  })
  t.is(status, 1)
  t.is(lines.at(-1), '4 passed, 1 failed')
  t.regex(stdout, /^ *[✘×] \[fail\]: c › three/m)
})

test.serial('a suite that does not compile, crashes or has no tests is a failure', (t) => {
  const { status, lines, stdout } = npmTest({
    'core/loom/src/lib.rs': '#![cfg(flakeforge_loom)]\ncompile_error!("no model");\n',
    '__test__/a.test.mjs': '',
    '__test__/b.test.mjs': `import test from 'ava'\ntest('ends', () => process.kill(process.pid, 'SIGKILL'))\n`,
  })
  t.is(status, 1)
  t.regex(lines.at(-1), /^1 passed, [34] failed$/) // ava may count the file that was killed and the test in it
  t.regex(stdout, /^✘ cargo test .*: It ended with 101\.$/m)
  t.regex(stdout, /^error: no model$/m)
  t.regex(stdout, /[✘×] No tests found in __test__\/a\.test\.mjs/)
  t.regex(stdout, /[✘×] __test__\/b\.test\.mjs exited due to SIGKILL/)
})

test.serial('tests that cannot run here are named at the end, once', (t) => {
  const skip = `console.warn('\\n!!! SKIPPED: etcd is not installed: its tests do not run !!!\\n')`
  const { status, stdout } = npmTest({
    '__test__/a.test.mjs': `${FILES['__test__/a.test.mjs']}${skip}`,
    '__test__/b.test.mjs': `${FILES['__test__/b.test.mjs']}${skip}`,
  })
  t.is(status, 0)
  t.is(stdout.match(/SKIPPED/g).length, 1)
  t.regex(stdout, /!!! SKIPPED: etcd is not installed: its tests do not run !!!\n\n4 passed, 0 failed\n$/)
})

test.serial('temporary files of killed tests are removed', (t) => {
  const { status, stdout } = npmTest({
    '__test__/a.test.mjs': `import fs from 'node:fs'\nimport os from 'node:os'\nimport test from 'ava'\n
      test('leaves a folder', (t) => {
        t.log('TEMP', fs.mkdtempSync(os.tmpdir() + '/left-'))
        t.pass()
      })\n`,
  })
  t.is(status, 0, stdout)
  const [, folder] = /TEMP (\S.*\S)/.exec(stdout)
  t.regex(folder, /left-/)
  t.false(fs.existsSync(folder))
})

test.serial('stderr of tests is shown', (t) => {
  const { stdout } = npmTest({ '__test__/a.test.mjs': `${FILES['__test__/a.test.mjs']}console.error('a stray word')` })
  t.regex(stdout, /^a stray word$/m)
})

test.serial('a warning that no test expects is shown, and a failure with CI=true', (t) => {
  const files = { '__test__/a.test.mjs': `${FILES['__test__/a.test.mjs']}process.emitWarning('odd', { code: 'ODD' })` }
  const people = npmTest(files)
  t.is(people.status, 0)
  t.regex(people.stdout, /^\(node:\d+\) \[ODD\] Warning: odd$/m)
  const ci = npmTest(files, { CI: 'true' })
  t.is(ci.status, 1)
  t.is(ci.lines.at(-1), '4 passed, 1 failed')
  t.regex(ci.stdout, /✘ A warning that no test expects: \(node:\d+\) \[ODD\] Warning: odd\n/)
})

const isThere = (pid) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const signal of process.platform === 'win32' ? [] : ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'])
  test.serial(`${signal} ends all suites, and leaves no temporary file`, async (t) => {
    const folder = fs.mkdtempSync(path.join(temp, 'temporary-'))
    const endless = `import test from 'ava'
      import fs from 'node:fs'
      import os from 'node:os'
      test('endless', () => {
        fs.writeFileSync(os.tmpdir() + '/pid', String(process.pid))
        fs.renameSync(os.tmpdir() + '/pid', os.tmpdir() + '/begun')
        return new Promise(() => setInterval(() => fs.writeFileSync(os.tmpdir() + '/' + Math.random(), ''), 1))
      })`
    const options = project({ '__test__/c.test.mjs': endless }, { TMPDIR: folder })
    const child = spawn(process.execPath, ['scripts/test.js'], { ...options, stdio: 'ignore' })
    t.teardown(() => child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    const begun = () =>
      fs
        .readdirSync(folder)
        .map((name) => path.join(folder, name, 'begun'))
        .find((file) => fs.existsSync(file))
    await until(begun)
    const worker = Number(fs.readFileSync(begun(), 'utf8'))
    child.kill(signal)
    t.deepEqual(await ended, [null, signal])
    // What it could not do itself, its guard does a moment later.
    await until(() => !(isThere(worker) || (signal === 'SIGKILL' && fs.readdirSync(folder).length > 0)))
    t.deepEqual(fs.readdirSync(folder), [])
  })
