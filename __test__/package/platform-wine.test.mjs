// The run of the build for Windows, as far as it can be tested without Wine.

import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'

const require = createRequire(import.meta.url)
const { PROGRAMS, ended, entering, plain, testFiles, windowsPath } = require('../../scripts/platforms/run/wine.js')

const WINDOWS = {
  root: '/cache/root',
  prefix: '/wine/prefix-1',
  addon: '/builds/flakeforge.win32-x64-gnu.node',
  temp: '/tmp/t',
}

test('Node 24 and 20 run the smoke test, and one of them the AVA files', (t) => {
  t.deepEqual(
    PROGRAMS.map(({ major }) => major),
    [24, 20],
  )
  t.true(PROGRAMS.every(({ runs }) => runs.includes('smoke')))
  t.true(PROGRAMS.every(({ runs }) => runs.includes('ava')))
})

test('a path as Windows programs see it', (t) => {
  t.is(windowsPath('/nodes/win32-x64-24/node.exe'), 'Z:\\nodes\\win32-x64-24\\node.exe')
})

test('the command line: namespaces of its own, no window, the addon, and nothing of this machine', (t) => {
  const command = entering(WINDOWS, ['Z:\\node.exe', 'a b.cjs'])
  t.deepEqual(command.slice(0, 3), ['setpriv', '--pdeathsig', 'KILL'])
  for (const flag of ['--mount', '--pid', '--fork', '--kill-child']) t.true(command.includes(flag), flag)
  t.deepEqual(command.slice(-3), ['wine', 'Z:\\node.exe', 'a b.cjs'])
  const settings = command.filter((part) => /^[A-Z_]+=/.test(part))
  t.deepEqual(settings.map((setting) => setting.split('=')[0]).sort(), [
    ...['HOME', 'LANG', 'NAPI_RS_NATIVE_LIBRARY_PATH', 'PATH', 'WINEDEBUG', 'WINEDLLOVERRIDES', 'WINEPREFIX'],
  ])
  t.true(settings.includes('NAPI_RS_NATIVE_LIBRARY_PATH=Z:\\addon\\flakeforge.win32-x64-gnu.node'))
  t.true(settings.includes('WINEPREFIX=/wine/prefix-1'))
  t.true(settings.includes('WINEDEBUG=-all'))
  t.regex(
    settings.find((setting) => setting.startsWith('WINEDLLOVERRIDES')),
    /mshtml=.*winedbg\.exe.*=d/,
  )
  t.true(command.includes('/builds'), "the addon's folder")
})

test('what the shell runs is valid', (t) => {
  const command = entering(WINDOWS, [])
  const script = command[command.indexOf('-c') + 1]
  const { status, stderr } = spawnSync('bash', ['-n', '-c', script], { encoding: 'utf8' })
  t.deepEqual({ status, stderr }, { status: 0, stderr: '' })
})

test('output: the ends of lines as here, and nothing about 32-bit programs', (t) => {
  const warning =
    'it looks like wine32 is missing, you should install it.\nmultiarch needs to be enabled first.  as root, please\n' +
    'execute "dpkg --add-architecture i386 && apt-get update &&\napt-get install wine32:i386"\n'
  t.is(plain(`${warning}ok 1 - a\r\nnot ok 2 - b\r\n`), 'ok 1 - a\nnot ok 2 - b\n')
  t.is(plain('it looks like wine32 is missing, and more\n'), 'it looks like wine32 is missing, and more\n')
})

test('every AVA file on files runs, by a path that is there', (t) => {
  const files = testFiles()
  for (const name of ['join-file', 'places', 'shared-files', 'shared-processes'])
    t.true(files.includes(`__test__/files/${name}.test.mjs`), name)
  for (const file of files) t.true(fs.existsSync(path.join(import.meta.dirname, '..', '..', file)), file)
})

test('a program that hangs is ended, and its output says so', async (t) => {
  const child = spawn('sleep', ['60'], { timeout: 100, killSignal: 'SIGKILL', stdio: 'ignore' })
  const { status, problem } = await ended(child, 100)
  t.is(status, null)
  t.regex(problem, /ended by SIGKILL after \d+ s; it may take 0\.1 s/)
})

test('a program that cannot be started is a problem, not a crash', async (t) => {
  const { status, problem } = await ended(spawn('/nowhere/wine', [], { stdio: 'ignore' }), 100)
  t.is(status, null)
  t.regex(problem, /ENOENT/)
})
