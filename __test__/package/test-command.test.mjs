// `npm test` itself: what it shows and how it ends. In a folder with its script, a small crate and a few ava tests, of
// which some fail, run by the real cargo and the real ava.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
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

/** Runs the script in a folder with these files: what it printed, its last line and its status. */
function npmTest(more, env = {}) {
  const folder = fs.mkdtempSync(path.join(temp, 'project-'))
  for (const [name, text] of Object.entries({ ...FILES, ...more })) {
    fs.mkdirSync(path.join(folder, path.dirname(name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), text)
  }
  fs.mkdirSync(path.join(folder, 'scripts'))
  for (const name of ['test.js', 'test-readers.js', 'test-screen.js'])
    fs.copyFileSync(path.join(root, 'scripts', name), path.join(folder, 'scripts', name))
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction')

  const { CI: _, NODE_ENV: __, AVA_PATH: ___, ...outside } = process.env
  const options = {
    cwd: folder,
    encoding: 'utf8',
    env: { ...outside, CARGO_TARGET_DIR: path.join(temp, 'target'), ...env },
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/test.js'], options)
  return { status, stdout, stderr, lines: stdout.trimEnd().split('\n') }
}

const FAILING = {
  'core/tests/broken.rs': `#[test]\nfn breaks() { assert_eq!(1 + 1, 3, "arithmetic") }\n#[test]\nfn holds() {}\n`,
  'c.test.mjs': `import test from 'ava'\ntest('three', (t) => t.is('left', 'right'))\ntest.failing('known', (t) => t.fail())\n`,
}

test.serial('a dot for each test, and the counts alone on the last line', (t) => {
  const { status, stdout, lines } = npmTest({})
  t.is(status, 0, stdout)
  t.is(lines.at(-1), '4 passed, 0 failed')
  const dots = lines.filter((line) => /^[.Fs]+$/.test(line))
  t.deepEqual(
    dots.map((line) => [...line].sort().join('')), // ava runs files side by side
    ['..s', '.', '.'],
  )
  t.notRegex(stdout, /Failures|^ok \d|^test .*\.\.\. ok/m)
})

test.serial('all failures are shown after the progress, with what they said, and then the counts', (t) => {
  const { status, stdout, lines } = npmTest(FAILING)
  t.is(status, 1)
  t.is(lines.at(-1), '6 passed, 2 failed')
  const [progress, failures] = stdout.split('\nFailures\n')
  t.is(progress.match(/F/g).length, 2)
  t.regex(failures, /^✗ The core: breaks\n(?: {4}.*\n)*? {4}assertion `left == right` failed: arithmetic\n/m)
  t.regex(failures, /^✗ The package: c › three\n(?: {4}.*\n)*? {4}name: AssertionError\n/m)
  t.regex(failures, /'right'/)
  t.is(failures.match(/✗/g).length, 2)
})

test.serial('with CI=true it is what the runners print, and the failures once more at the end', (t) => {
  const { status, stdout, lines } = npmTest(FAILING, { CI: 'true' })
  t.is(status, 1)
  t.is(lines.at(-1), '6 passed, 2 failed')
  const [raw, failures] = stdout.split('\nFailures\n')
  t.regex(raw, /^TAP version 13$/m)
  t.regex(raw, /^not ok \d+ - c › three$/m)
  t.regex(raw, /^ok \d+ - b › two$/m)
  t.regex(raw, /^test holds \.\.\. ok$/m)
  t.regex(failures, /✗ The package: c › three\n[^✗]*✗ The core: breaks\n/)
})

test.serial('a suite that does not compile, crashes or has no tests is a failure', (t) => {
  const { status, lines, stdout, stderr } = npmTest({
    'core/loom/src/lib.rs': '#![cfg(flakeforge_loom)]\ncompile_error!("no model");\n',
    'a.test.mjs': '',
    'b.test.mjs': `import test from 'ava'\ntest('ends', () => process.kill(process.pid, 'SIGKILL'))\n`,
  })
  t.is(status, 1)
  t.is(lines.at(-1), '1 passed, 4 failed') // the test that was killed counts, and so does its file
  t.regex(stdout, /✗ Its models under loom: cargo test .*\n {4}It ended with 101\. What it printed is above\./)
  t.regex(stdout, /✗ The package: No tests found in a\.test\.mjs/)
  t.regex(stdout, /✗ The package: b\.test\.mjs exited due to SIGKILL/)
  t.regex(stderr, /^error: no model$/m)
})

test.serial('tests that cannot run here are named at the end, once', (t) => {
  const skip = `console.warn('\\n!!! SKIPPED: etcd is not installed: its tests do not run !!!\\n')`
  const { status, stdout, stderr } = npmTest({
    'a.test.mjs': `${FILES['a.test.mjs']}${skip}`,
    'b.test.mjs': `${FILES['b.test.mjs']}${skip}`,
  })
  t.is(status, 0)
  t.is(stdout.match(/SKIPPED/g).length, 1)
  t.regex(stdout, /!!! SKIPPED: etcd is not installed: its tests do not run !!!\n\n4 passed, 0 failed\n$/)
  t.notRegex(stderr, /SKIPPED/)
})

test.serial('what tests write to stderr is shown', (t) => {
  const { stderr } = npmTest({ 'a.test.mjs': `${FILES['a.test.mjs']}console.error('a stray word')` })
  t.regex(stderr, /^a stray word$/m)
})

test.serial('a warning that no test expects is shown, and a failure with CI=true', (t) => {
  const files = { 'a.test.mjs': `${FILES['a.test.mjs']}process.emitWarning('odd', { code: 'ODD' })` }
  const people = npmTest(files)
  t.is(people.status, 0)
  t.regex(people.stderr, /^\(node:\d+\) \[ODD\] Warning: odd$/m)
  const ci = npmTest(files, { CI: 'true' })
  t.is(ci.status, 1)
  t.is(ci.lines.at(-1), '4 passed, 1 failed')
  t.regex(ci.stdout, /✗ The package: a warning that no test expects\n {4}\(node:\d+\) \[ODD\] Warning: odd\n/)
})
