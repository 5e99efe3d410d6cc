// `npm run platforms`, without a build: its messages on a machine that cannot run it, its findings in a binary, and the
// table. The outputs of objdump and the others in platforms/ are real ones of built binaries, shortened: some rows of
// each kind.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'

const require = createRequire(import.meta.url)
const { commandFor, settingsFor } = require('../../scripts/platforms/build.js')
const { elfProblems, machoProblems, peProblems, sizeProblems } = require('../../scripts/platforms/check.js')
const { compareVersions, glibcOf, readElf } = require('../../scripts/platforms/elf.js')
const { inLanes } = require('../../scripts/platforms/parallel.js')
const { readMachO } = require('../../scripts/platforms/macho.js')
const { readPe } = require('../../scripts/platforms/pe.js')
const { cacheFolder, mirrorIn, networkSettings, whyNot } = require('../../scripts/platforms/root.js')
const { avaResult } = require('../../scripts/platforms/run/results.js')
const { AVA } = require('../../scripts/platforms/run/wasm.js')
const { asRecord, asText, isFine, problemsAsText } = require('../../scripts/platforms/table.js')
const { TARGETS } = require('../../scripts/platforms/targets.js')

const target = (name) => TARGETS.find((one) => one.name === name)
const read = (name) => fs.readFileSync(path.join(import.meta.dirname, 'platforms', `${name}.txt`), 'utf8')

/** The result of a check for a real output in which something was replaced. The replaced text must have been there. */
function after(text, from, to, look) {
  const changed = text.replace(from, to)
  if (changed === text) throw new Error(`${from} is not in the output`)
  return look(changed)
}

const machine = { platform: 'linux', arch: 'x64', isAdmin: true, missing: [] }

test('a machine with everything necessary gets no message', (t) => {
  t.is(whyNot(machine), undefined)
})

test('one message lists everything that is missing, and where to get it', (t) => {
  const message = whyNot({ ...machine, isAdmin: false, missing: ['debootstrap', 'flock'] })
  t.regex(message, /the commands debootstrap, flock \(apt-get install debootstrap util-linux\)/)
  t.regex(message, /the rights of root.*sudo npm run platforms/)
  t.regex(whyNot({ ...machine, isAdmin: false }), /needs the rights of root/)
})

test('the message on another system suggests a machine or a container with Debian', (t) => {
  for (const other of [{ platform: 'darwin' }, { arch: 'arm64' }, { missing: ['apt-get', 'debootstrap'] }])
    t.regex(whyNot({ ...machine, ...other }), /run it on an x64 machine or in a container with Debian or Ubuntu/)
  t.regex(whyNot({ ...machine, missing: ['apt-get'] }), /without apt-get/)
})

test('the cache is where the user wants it', (t) => {
  t.is(cacheFolder({ FLAKEFORGE_PLATFORMS: '/there', XDG_CACHE_HOME: '/x' }), '/there')
  t.is(cacheFolder({ XDG_CACHE_HOME: '/x' }), '/x/flakeforge/platforms')
  t.is(cacheFolder({}), path.join(os.homedir(), '.cache/flakeforge/platforms'))
})

test("the mirror is the machine's own, and not the one of security updates", (t) => {
  const security = 'Debian|Debian-Security|http://mirror.example/debian-security/'
  const own = 'Debian|Debian|http://mirror.example/debian/'
  t.is(mirrorIn(`${security}\n${own}\n`), 'http://mirror.example/debian/')
  t.is(mirrorIn('Ubuntu|Ubuntu|http://mirror.example/ubuntu/\n'), undefined)
  t.is(mirrorIn(''), undefined)
})

test('the root gets the settings for registries and proxies, and none that changes a build', (t) => {
  const network = { https_proxy: 'p', NO_PROXY: 'q', PIP_INDEX_URL: 'i', SSL_CERT_FILE: 'c', CARGO_HTTP_CAINFO: 'c' }
  const others = { RUSTFLAGS: '-g', CARGO_PROFILE_RELEASE_LTO: 'off', CARGO_TARGET_DIR: '/x', PATH: '/bin', HOME: '/h' }
  t.deepEqual(networkSettings({ ...network, ...others }), network)
})

// make-root.sh copies apt's settings, which only Debian and its derivatives have.
const debianTest = fs.existsSync('/etc/apt/apt.conf.d') ? test : test.skip

/** Runs make-root.sh with substitutes for the programs that need root, and returns its folder. */
function makeRootWith(temp, chroot) {
  const programs = {
    debootstrap: 'mkdir -p "$4/etc/apt/apt.conf.d" "$4/proc" && echo "$*" > "$4/made"',
    mount: 'exit 0',
    umount: 'exit 0',
    chroot,
  }
  for (const [name, text] of Object.entries(programs))
    fs.writeFileSync(path.join(temp, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  const script = path.join(import.meta.dirname, '../../scripts/platforms/make-root.sh')
  const env = { ...process.env, PATH: `${temp}:${process.env.PATH}` }
  return spawnSync('bash', [script, path.join(temp, 'root'), 'file wine', 'http://mirror.example'], {
    env,
    encoding: 'utf8',
  })
}

debianTest('the root is either complete or missing, and is created once', (t) => {
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-platforms-'))
  t.teardown(() => fs.rmSync(temp, { recursive: true }))
  const made = path.join(temp, 'root', 'made')

  t.not(makeRootWith(temp, 'exit 7').status, 0)
  t.false(fs.existsSync(path.join(temp, 'root')))

  const { status, stderr } = makeRootWith(temp, 'echo "$*" >> "$1/made"')
  t.is(status, 0, stderr)
  const text = fs.readFileSync(made, 'utf8')
  t.regex(text, /^--force-check-gpg --variant=minbase trixie \S+root.unfinished http:\/\/mirror.example\n/)
  t.regex(text, /apt-get install -qq -y --no-install-recommends file wine\n/)
  t.deepEqual(
    fs.readdirSync(temp).filter((name) => name.startsWith('root')),
    ['root'],
  )

  t.is(makeRootWith(temp, 'exit 7').status, 0)
  t.is(fs.readFileSync(made, 'utf8'), text)
})

test('each target gets the command and the settings of its kind', (t) => {
  const last = (name) => commandFor(target(name)).at(-1)
  t.is(last('linux-s390x-gnu'), 's390x-unknown-linux-gnu.2.17')
  t.is(last('linux-arm64-musl'), 'aarch64-unknown-linux-musl')
  t.deepEqual(commandFor(target('win32-x64-msvc')).slice(0, 3), ['cargo', 'check', '--release'])
  for (const one of TARGETS) {
    const flags = Object.entries(settingsFor(one, 0)).find(([name]) => name.endsWith('_RUSTFLAGS'))
    t.deepEqual(flags?.[1].match(/--remap-path-prefix=\S+/g), [
      '--remap-path-prefix=/flakeforge=flakeforge',
      '--remap-path-prefix=/cargo=cargo',
      '--remap-path-prefix=/usr/lib/rustlib/src/rust=rust',
    ])
  }
  t.is(settingsFor(target('darwin-x64'), 0).MACOSX_DEPLOYMENT_TARGET, '10.15')
  t.is(settingsFor(target('darwin-arm64'), 0).MACOSX_DEPLOYMENT_TARGET, '11.0')
  const musl = settingsFor(target('linux-x64-musl'), 1)
  t.regex(musl.CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS, / -Ctarget-feature=-crt-static$/)
  t.regex(musl.CARGO_TARGET_DIR, /cargo-1$/)
  const windows = settingsFor(target('win32-ia32-gnu'), 0)
  t.is(windows.CARGO_TARGET_I686_PC_WINDOWS_GNU_LINKER, 'i686-w64-mingw32-gcc')
  t.regex(windows.LIBNODE_PATH, /i686$/)
})

/** The problems of a Linux binary, by the name of its target. */
const linux = (name) => (text) => elfProblems(target(name), readElf(text))

test('a Linux binary: good ones have no problem', (t) => {
  for (const name of ['linux-arm64-gnu', 'linux-x64-musl']) t.deepEqual(linux(name)(read(`readelf-${name}`)), [])
  t.is(glibcOf(readElf(read('readelf-linux-arm64-gnu'))).version, '2.17')
})

test('a Linux binary: the wrong processor, or the wrong byte order', (t) => {
  const text = read('readelf-linux-arm64-gnu')
  t.regex(linux('linux-x64-gnu')(text)[0], /^is for AArch64 ELF64/)
  t.regex(after(text, 'ELF64', 'ELF32', linux('linux-arm64-gnu'))[0], /^is for AArch64 ELF32/)
  t.regex(after(text, 'little endian', 'big endian', linux('linux-arm64-gnu'))[0], /big endian/)
})

test('a Linux binary: a newer glibc, musl instead of glibc, a library of the compiler, an undefined name', (t) => {
  const [name, text] = ['linux-arm64-gnu', read('readelf-linux-arm64-gnu')]
  t.regex(
    after(text, 'read@GLIBC_2.17', 'read@GLIBC_2.34', linux(name))[0],
    /needs glibc 2.34 for read, and promises 2.17/,
  )
  t.regex(after(text, '[libm.so.6]', '[libgcc_s.so.1]', linux(name))[0], /needs libgcc_s.so.1/)
  t.regex(after(text, 'napi_wrap', 'v8_wrap', linux(name))[0], /wants v8_wrap/)
  t.regex(after(text, / NODELETE/, '', linux(name))[0], /can be unloaded/)
  t.true(linux('linux-arm64-musl')(text).some((problem) => problem.startsWith('needs libc.so.6')))
  t.true(linux('linux-x64-gnu')(read('readelf-linux-x64-musl')).includes('has no glibc symbol'))
})

test('a Linux binary: the entry point and the registry are the only exports', (t) => {
  const [name, text] = ['linux-x64-musl', read('readelf-linux-x64-musl')]
  t.regex(after(text, 'napi_register_module_v1', 'other', linux(name))[0], /does not export napi_register_module_v1/)
  const line = text.split('\n').find((row) => row.endsWith(' napi_register_module_v1'))
  const leak = line.replace('napi_register_module_v1', 'memcpy')
  t.deepEqual(after(text, line, `${line}\n${leak}`, linux(name)), ['exports memcpy, which only the addon itself uses'])
  t.deepEqual(after(text, 'flakeforge_registry_1', 'napi_register_module_v1', linux(name)), [
    'does not export flakeforge_registry_1',
  ])
})

const windows = (text) => peProblems(target('win32-x64-gnu'), readPe(text))

test('a Windows binary: a good one has no problem', (t) => {
  t.deepEqual(windows(read('objdump-win32-x64')), [])
})

test('a Windows binary: the wrong processor, a DLL of the compiler, another export, no entry point', (t) => {
  const text = read('objdump-win32-x64')
  t.deepEqual(after(text, 'pei-x86-64', 'pei-i386', windows), ['is of the format pei-i386'])
  t.regex(after(text, 'ntdll.dll', 'libgcc_s_seh-1.dll', windows)[0], /needs libgcc_s_seh-1.dll/)
  t.regex(after(text, 'ntdll.dll', 'node.exe', windows)[0], /needs node.exe/)
  const row = '\t[   1] napi_register_module_v1'
  t.regex(after(text, row, `${row}\n\t[   2] +base[   2]  0001 memcpy`, windows)[0], /exports memcpy/)
  for (const name of ['napi_register_module_v1', 'flakeforge_registry_1'])
    t.true(after(text, name, 'other', windows).includes(`does not export ${name}`))
})

const macOs = (headers, symbols) => machoProblems(target('darwin-arm64'), readMachO(headers, symbols))

test('a macOS binary: a good one has no problem', (t) => {
  t.deepEqual(macOs(read('objdump-darwin-arm64'), read('nm-darwin-arm64')), [])
})

test('a macOS binary: the wrong processor, a newer system, no signature, a third-party library', (t) => {
  const [headers, symbols] = [read('objdump-darwin-arm64'), read('nm-darwin-arm64')]
  const look = (text) => macOs(text, symbols)
  t.deepEqual(after(headers, 'ARM64', 'X86_64', look), ['is for X86_64'])
  t.regex(after(headers, 'minos 11.0', 'minos 11.3', look)[0], /needs macOS 11.3, and promises 11.0/)
  t.deepEqual(after(headers, 'LC_CODE_SIGNATURE', 'LC_UUID', look), ['is not signed'])
  t.regex(
    after(headers, '/usr/lib/libSystem.B', '/opt/lib/libSystem.B', look)[0],
    /needs \/opt\/lib\/libSystem.B.dylib/,
  )
})

test('a macOS binary: another export, no entry point, an undefined name', (t) => {
  const [headers, symbols] = [read('objdump-darwin-arm64'), read('nm-darwin-arm64')]
  const look = (text) => macOs(headers, text)
  const line = symbols.split('\n').find((row) => row.endsWith(' _napi_register_module_v1'))
  const leak = line.replace('napi_register_module_v1', 'memcpy')
  t.regex(after(symbols, line, `${line}\n${leak}`, look)[0], /exports _memcpy/)
  for (const name of ['_napi_register_module_v1', '_flakeforge_registry_1'])
    t.true(after(symbols, name, '_other', look).includes(`does not export ${name}`))
  const wanted = '                 (undefined) external'
  t.deepEqual(after(symbols, line, `${line}\n${wanted} _napi_wrap`, look), [])
  t.regex(
    after(symbols, line, `${line}\n${wanted} _v8_wrap`, look)[0],
    /looks up _v8_wrap, which Node.js does not have/,
  )
})

test('output without information is a failure', (t) => {
  for (const look of [readElf, readPe, (text) => readMachO(text, text)])
    t.throws(() => look('file format not recognized'))
  t.throws(() => readPe(read('objdump-win32-x64').split('The Export Tables')[0]), { message: /no exports/ })
})

test('2.9 is older than 2.17', (t) => {
  t.true(compareVersions('2.9', '2.17') < 0)
  t.true(compareVersions('2.2.5', '2.2') > 0)
  t.is(compareVersions('11.0', '11'), 0)
})

test('a binary must not become twice as large as in the record', (t) => {
  t.deepEqual(sizeProblems(2000, 1000), [])
  t.regex(sizeProblems(2001, 1000)[0], /2001 bytes, more than twice the 1000/)
  t.deepEqual(sizeProblems(5, undefined), [])
})

/** Which lane works on what, in order. Each step of the work lets the other lane continue. */
async function sharedOut(targets, started) {
  const lanes = [[], []]
  const isStarted = ({ name }, lane) => started[name]?.includes(lane) ?? false
  const results = await inLanes(targets, 2, isStarted, async (one, lane) => {
    lanes[lane].push(one.name)
    await Promise.resolve()
    return one.name
  })
  return { lanes, results }
}

test('lanes share the targets: the longest first, each once, the results in order', async (t) => {
  const { lanes, results } = await sharedOut(TARGETS, {})
  t.deepEqual(
    results,
    TARGETS.map(({ name }) => name),
  )
  t.deepEqual(lanes.flat().sort(), results.toSorted())
  t.deepEqual([lanes[0][0], lanes[1][0]], ['win32-x64-gnu', 'linux-arm64-gnu'])
})

test('a target goes to the lane that has a part of it', async (t) => {
  const targets = ['a', 'b', 'c', 'd'].map((name) => ({ name }))
  const { lanes } = await sharedOut(targets, { a: [1], b: [1], c: [1], d: [0, 1] })
  t.deepEqual(lanes, [['d'], ['a', 'b', 'c']])
})

const run = { program: 'Node 24.11.1', by: 'qemu-aarch64', what: 'smoke', passed: 4185, failed: 0, output: 'text' }
const good = {
  name: 'linux-arm64-gnu',
  built: '1.96.0, zig 0.17.0',
  size: 1_171_704,
  seconds: 71.6,
  runs: [run],
  problems: [],
}
const compiled = { name: 'win32-x64-msvc', built: '1.96.0, compiled only', seconds: 30, runs: [], problems: [] }

test('the table has a row for each run, and names failures', (t) => {
  const second = { ...run, by: '', what: 'ava', passed: 9, failed: 1 }
  const broken = { name: 'darwin-x64', runs: [], problems: ['is not signed'] }
  const lines = asText([{ ...good, runs: [run, second] }, compiled, broken]).split('\n')
  t.deepEqual(lines, [
    'target           built                  size     time  run',
    'linux-arm64-gnu  1.96.0, zig 0.17.0     1172 kB  72 s  Node 24.11.1 by qemu-aarch64: 4185 smoke',
    '                                                       Node 24.11.1: 1 of 10 ava FAILED',
    'win32-x64-msvc   1.96.0, compiled only  –        30 s  –',
    'darwin-x64       no                     –        –     FAILED',
  ])
  t.is(problemsAsText([good, broken]), 'darwin-x64: is not signed')
})

test('the record replaces older rows, in the order of the list, and contains no failures', (t) => {
  const row = {
    name: 'linux-arm64-gnu',
    built: '1.96.0, zig 0.17.0',
    size: 1_171_704,
    runs: [{ program: 'Node 24.11.1', by: 'qemu-aarch64', what: 'smoke', passed: 4185, failed: 0 }],
  }
  const older = [
    { ...row, name: 'darwin-x64' },
    { ...row, size: 1 },
  ]
  const record = JSON.parse(asRecord(older, [compiled, good]))
  t.deepEqual(record, [row, older[0], { name: 'win32-x64-msvc', built: '1.96.0, compiled only', size: null, runs: [] }])
  const failed = { ...good, runs: [{ ...run, failed: 1 }] }
  t.false(isFine(failed))
  t.throws(() => asRecord([], [compiled, failed]), { message: /^linux-arm64-gnu failed/ })
  t.throws(() => asRecord([], [{ ...good, problems: ['x'] }]), { message: /^linux-arm64-gnu failed/ })
})

test('the command rejects an unknown target, and names the known ones', (t) => {
  const command = path.join(import.meta.dirname, '../../scripts/platforms/index.js')
  const { status, stderr } = spawnSync(process.execPath, [command, 'linux-sparc-gnu'], { encoding: 'utf8' })
  t.is(status, 1)
  t.regex(stderr, /no target is called linux-sparc-gnu: there are linux-x64-gnu, .*wasm32-wasi\n$/)
})

test('what AVA prints with the arguments of a run is counted', (t) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...AVA, '__test__/base/nearest.test.mjs'], {
    encoding: 'utf8',
  })
  const { passed, failed } = avaResult({ status, output: `${stdout}${stderr}` })
  t.true(passed > 0)
  t.is(failed, 0)
})
