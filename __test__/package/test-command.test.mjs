// `npm test` itself: its output and its exit status. In a folder with its script, a small crate and a few ava tests, of
// which some fail, run by the real cargo and the real ava.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import anyTest from 'ava'

const root = path.join(import.meta.dirname, '..', '..')
const test = spawnSync('cargo', ['--version']).status === 0 ? anyTest : anyTest.skip

const FILES = {
  'Cargo.toml': '[workspace]\nmembers = ["core", "core/loom"]\nresolver = "3"\n',
  'core/Cargo.toml': `[package]\nname = "flakeforge-core"\nversion = "0.0.0"\nedition = "2024"\n`,
  'core/loom/Cargo.toml': `[package]\nname = "flakeforge-core-loom"\nversion = "0.0.0"\nedition = "2024"
[lints.rust]\nunexpected_cfgs = { level = "warn", check-cfg = ["cfg(flakeforge_loom)"] }\n`,
  'Cargo.lock': `version = 4\n\n[[package]]\nname = "flakeforge-core"\nversion = "0.0.0"\n
[[package]]\nname = "flakeforge-core-loom"\nversion = "0.0.0"\n`,
  'package.json': '{ "ava": { "files": ["*.test.mjs"], "workerThreads": false } }',
  'core/src/lib.rs': '#[test]\nfn in_the_library() {}\n',
  'core/loom/src/lib.rs': '#![cfg(flakeforge_loom)]\n#[test]\nfn a_model() {}\n',
  'a.test.mjs': `import test from 'ava'\ntest('one', (t) => t.pass())\ntest.skip('skipped', (t) => t.pass())\n`,
  'b.test.mjs': `import test from 'ava'\ntest('two', (t) => t.pass())\n`,
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
  for (const script of ['scripts/test.js', 'scripts/ava-output.js'])
    fs.copyFileSync(path.join(root, script), path.join(folder, script))
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction')

  const { CI: _, NODE_ENV: __, AVA_PATH: ___, ...outside } = process.env
  return {
    cwd: folder,
    encoding: 'utf8',
    env: { ...outside, CARGO_TARGET_DIR: path.join(temp, 'target'), ...env },
  }
}

/** Runs the script in a folder with these files: its output, its last line and its status. */
function npmTest(more, env) {
  const options = project(more, env)
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/test.js'], options)
  return { status, stdout, stderr, lines: stdout.trimEnd().split('\n') }
}

const FAILING = {
  'core/tests/broken.rs': `#[test]\nfn breaks() { assert_eq!(1 + 1, 3, "arithmetic") }\n#[test]\nfn holds() {}\n`,
  'c.test.mjs': `import test from 'ava'\ntest('three', (t) => t.is('left', 'right'))\ntest.failing('known', (t) => t.fail())\n`,
}

test.serial('each test as ava shows it, the results of cargo, and the counts alone on the last line', (t) => {
  const { status, stdout, lines } = npmTest({})
  t.is(status, 0, stdout)
  t.is(lines.at(-1), '4 passed, 0 failed')
  t.regex(stdout, /^ *[✔√] b › two$/m)
  t.is(stdout.match(/^test result: ok\. 1 passed/gm).length, 2)
  t.notRegex(stdout, /^test .*\.\.\. ok/m)
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
    'c.test.mjs': `import test from 'ava'\ntest('three', () => { ${odd} })\n`,
  })
  t.is(status, 1)
  t.is(lines.at(-1), '4 passed, 1 failed')
  t.regex(stdout, /^ *[✘×] \[fail\]: c › three/m)
})

test.serial('a suite that does not compile, crashes or has no tests is a failure', (t) => {
  const { status, lines, stdout } = npmTest({
    'core/loom/src/lib.rs': '#![cfg(flakeforge_loom)]\ncompile_error!("no model");\n',
    'a.test.mjs': '',
    'b.test.mjs': `import test from 'ava'\ntest('ends', () => process.kill(process.pid, 'SIGKILL'))\n`,
  })
  t.is(status, 1)
  t.regex(lines.at(-1), /^1 passed, [34] failed$/) // ava may count the file that was killed and the test in it
  t.regex(stdout, /^✘ cargo test .*: It ended with 101\.$/m)
  t.regex(stdout, /^error: no model$/m)
  t.regex(stdout, /[✘×] No tests found in a\.test\.mjs/)
  t.regex(stdout, /[✘×] b\.test\.mjs exited due to SIGKILL/)
})

test.serial('tests that cannot run here are named at the end, once', (t) => {
  const skip = `console.warn('\\n!!! SKIPPED: etcd is not installed: its tests do not run !!!\\n')`
  const { status, stdout } = npmTest({
    'a.test.mjs': `${FILES['a.test.mjs']}${skip}`,
    'b.test.mjs': `${FILES['b.test.mjs']}${skip}`,
  })
  t.is(status, 0)
  t.is(stdout.match(/SKIPPED/g).length, 1)
  t.regex(stdout, /!!! SKIPPED: etcd is not installed: its tests do not run !!!\n\n4 passed, 0 failed\n$/)
})

test.serial('temporary files of killed tests are removed', (t) => {
  const { status, stdout } = npmTest({
    'a.test.mjs': `import fs from 'node:fs'\nimport os from 'node:os'\nimport test from 'ava'\n
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
  const { stdout } = npmTest({ 'a.test.mjs': `${FILES['a.test.mjs']}console.error('a stray word')` })
  t.regex(stdout, /^a stray word$/m)
})

test.serial('a warning that no test expects is shown, and a failure with CI=true', (t) => {
  const files = { 'a.test.mjs': `${FILES['a.test.mjs']}process.emitWarning('odd', { code: 'ODD' })` }
  const people = npmTest(files)
  t.is(people.status, 0)
  t.regex(people.stdout, /^\(node:\d+\) \[ODD\] Warning: odd$/m)
  const ci = npmTest(files, { CI: 'true' })
  t.is(ci.status, 1)
  t.is(ci.lines.at(-1), '4 passed, 1 failed')
  t.regex(ci.stdout, /✘ A warning that no test expects: \(node:\d+\) \[ODD\] Warning: odd\n/)
})

for (const signal of process.platform === 'win32' ? [] : ['SIGINT', 'SIGTERM', 'SIGHUP'])
  test.serial(`${signal} ends all suites, and leaves no temporary file`, async (t) => {
    const folder = fs.mkdtempSync(path.join(temp, 'temporary-'))
    const endless = `import test from 'ava'
      import fs from 'node:fs'
      import os from 'node:os'
      test('endless', () => {
        fs.writeFileSync(os.tmpdir() + '/begun', '')
        return new Promise(() => setInterval(() => fs.writeFileSync(os.tmpdir() + '/' + Math.random(), ''), 1))
      })`
    const options = project({ 'c.test.mjs': endless }, { TMPDIR: folder })
    const child = spawn(process.execPath, ['scripts/test.js'], { ...options, stdio: 'ignore' })
    t.teardown(() => child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    const hasBegun = () => fs.readdirSync(folder).some((name) => fs.existsSync(path.join(folder, name, 'begun')))
    while (!hasBegun()) await sleep(50)
    child.kill(signal)
    t.deepEqual(await ended, [null, signal])
    t.deepEqual(fs.readdirSync(folder), [])
  })
