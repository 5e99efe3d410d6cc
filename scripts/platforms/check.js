'use strict'

// Inspects a finished binary, without running it: the right processor, no exports but the addon's entry point and its
// registry, no dependencies that a user's machine may lack, no path of the machine that built it, no sudden growth. It
// returns the faults. The kind of a binary is read from its contents, never from its name.

const fs = require('node:fs')
const path = require('node:path')
const { ownPathProblems } = require('../own-paths.js')
const { wasmProblems } = require('./build-wasm.js')
const { INSIDE, runInRoot } = require('./root.js')
const { compareVersions, glibcOf, readElf } = require('./elf.js')
const { readMachO } = require('./macho.js')
const { readPe } = require('./pe.js')

const checkout = path.join(__dirname, '..', '..')

/** The exports that Node.js looks for in an addon, and other copies of the addon. */
const ENTRANCE = ['napi_register_module_v1', 'flakeforge_registry_1']
/** Also looked up by Node.js, and optional. */
const OPTIONAL = ['node_api_module_get_api_version_v1']
/** The symbols that Node.js itself provides to an addon. */
const isNodeApi = (name) => /^(?:napi|node_api)_\w+$/.test(name)

/** By the start of the triple: its name in `readelf`. */
const ELF_MACHINES = {
  x86_64: ['Advanced Micro Devices X86-64', 'ELF64', 'little'],
  aarch64: ['AArch64', 'ELF64', 'little'],
  armv7: ['ARM', 'ELF32', 'little'],
  powerpc64le: ['PowerPC64', 'ELF64', 'little'],
  s390x: ['IBM S/390', 'ELF64', 'big'],
  riscv64gc: ['RISC-V', 'ELF64', 'little'],
}
const PE_MACHINES = { x86_64: 'pei-x86-64', i686: 'pei-i386' }
const MACHO_MACHINES = { x86_64: 'X86_64', aarch64: 'ARM64' }

/** The parts of glibc, and musl, which is one file. */
const GLIBC = /^(?:libc\.so\.6|libm\.so\.6|libdl\.so\.2|libpthread\.so\.0|librt\.so\.1|ld(?:-linux[\w-]*|64)\.so\.\d)$/
const MUSL = /^libc\.so$/
/** The DLLs of every Windows 10. api-ms-win-* are names for parts of the system itself. */
const WINDOWS =
  /^(?:api-ms-win-[\w-]+|kernel32|ntdll|msvcrt|ucrtbase|bcryptprimitives|bcrypt|advapi32|userenv|ws2_32)\.dll$/i
/** The libraries of every macOS. */
const MACOS_LIBRARY =
  /^\/usr\/lib\/(?:libSystem\.B|libiconv\.2|libcharset\.1|libobjc\.A)\.dylib$|^\/System\/Library\/Frameworks\//

/**
 * Symbols that Zig's linker exports as well, because it cannot be told not to: where the library begins, and two names
 * of Rust's standard library. macOS looks a name up in the library that was named for it, so they replace no others.
 */
const isMacOsExtra = (name) => /^(?:__mh_dylib_header|___dso_handle|_rust_eh_personality|__RNv\w+_3std\w+)$/.test(name)

const machineOf = ({ triple }) => triple.split('-')[0]

/** One sentence if the condition does not hold. */
const unless = (ok, sentence) => (ok ? [] : [sentence])

/** Only these may be visible from outside: any other name could replace one of the program's own. */
function exportProblems(exports, prefix = '') {
  const [entrance, optional] = [ENTRANCE, OPTIONAL].map((names) => names.map((name) => `${prefix}${name}`))
  const others = exports.filter((name) => ![...entrance, ...optional].includes(name))
  return [
    ...entrance.filter((name) => !exports.includes(name)).map((name) => `does not export ${name}`),
    ...others.map((name) => `exports ${name}, which only the addon itself uses`),
  ]
}

const needProblems = (needs, allowed) =>
  needs.filter((name) => !allowed.test(name)).map((name) => `needs ${name}, which a machine may lack`)

/** A symbol with a version comes from a library that declares it; one without must be Node.js's own. */
function wantProblems({ wants }) {
  return wants
    .filter(({ name, version, isWeak }) => !version && !isWeak && !isNodeApi(name))
    .map(({ name }) => `wants ${name}, and no library is named for it`)
}

function glibcProblems(facts, limit) {
  const highest = glibcOf(facts)
  if (highest === undefined) return ['has no glibc symbol']
  const ok = compareVersions(highest.version, limit) <= 0
  return unless(ok, `needs glibc ${highest.version} for ${highest.name}, and promises ${limit}`)
}

/**
 * The faults of a Linux library.
 * @param {import('./targets.js').Target} target
 * @param {ReturnType<typeof readElf>} facts
 */
function elfProblems(target, facts) {
  const [machine, bits, end] = ELF_MACHINES[machineOf(target)]
  const is = `${facts.machine} ${facts.bits}, ${facts.data}`
  return [
    ...unless(facts.machine === machine && facts.bits === bits && facts.data.includes(`${end} endian`), `is for ${is}`),
    ...exportProblems(facts.exports),
    ...needProblems(facts.needs, target.glibc ? GLIBC : MUSL),
    ...(target.glibc ? glibcProblems(facts, target.glibc) : []),
    ...(target.glibc ? wantProblems(facts) : []),
    ...unless(
      !target.glibc || facts.isKept,
      'can be unloaded: a worker thread that ends would take the registry with it',
    ),
  ]
}

/**
 * The faults of a Windows library.
 * @param {import('./targets.js').Target} target
 * @param {ReturnType<typeof readPe>} facts
 */
function peProblems(target, facts) {
  return [
    ...unless(facts.format === PE_MACHINES[machineOf(target)], `is of the format ${facts.format}`),
    ...exportProblems(facts.exports),
    ...needProblems(facts.needs, WINDOWS),
  ]
}

/**
 * The faults of a macOS library.
 * @param {import('./targets.js').Target} target
 * @param {ReturnType<typeof readMachO>} facts
 */
function machoProblems(target, facts) {
  const machine = machineOf(target)
  return [
    ...unless(facts.machine === MACHO_MACHINES[machine], `is for ${facts.machine}`),
    ...unless(
      compareVersions(facts.macos, target.macos) <= 0,
      `needs macOS ${facts.macos}, and promises ${target.macos}`,
    ),
    // Apple's processors run only signed code, even if only its linker signed it.
    ...unless(machine !== 'aarch64' || facts.isSigned, 'is not signed'),
    ...exportProblems(
      facts.exports.filter((name) => !isMacOsExtra(name)),
      '_',
    ),
    ...needProblems(facts.needs, MACOS_LIBRARY),
    ...facts.lookedUp
      .filter((name) => !isNodeApi(name.slice(1)))
      .map((name) => `looks up ${name}, which Node.js does not have`),
  ]
}

/** A size twice that of the last record is not growth, but a mistake. */
function sizeProblems(size, recorded) {
  const ok = recorded == null || size <= 2 * recorded
  return unless(ok, `has ${size} bytes, more than twice the ${recorded} of the last record`)
}

/** The output of a command in the root. */
async function output(root, command) {
  const result = await runInRoot(root, command)
  if (result.status !== 0) throw new Error(`'${command.join(' ')}' failed:\n${result.output}`)
  return result.output
}

/** The faults of a target's binary, by its format. */
async function formatProblems(root, target, file) {
  if (target.triple.includes('-linux-'))
    return elfProblems(target, readElf(await output(root, ['readelf', '-W', '-h', '-d', '--dyn-syms', file])))
  if (target.triple.includes('-windows-'))
    return peProblems(target, readPe(await output(root, ['objdump', '-p', file])))
  const headers = await output(root, ['llvm-objdump', '--macho', '--private-headers', file])
  return machoProblems(target, readMachO(headers, await output(root, ['llvm-nm', '-m', file])))
}

/**
 * The faults of a target's binary: one sentence each.
 * @param {string} root
 * @param {import('./targets.js').Target} target
 * @param {string} file
 * @param {number | null} [recorded] its size in the last record
 * @returns {Promise<string[]>}
 */
async function check(root, target, file, recorded) {
  const inside = path.posix.join(INSIDE, path.relative(checkout, file))
  const bytes = fs.readFileSync(file)
  const problems = target.build === 'wasm' ? wasmProblems(bytes) : await formatProblems(root, target, inside)
  return [...problems, ...ownPathProblems(bytes), ...sizeProblems(bytes.length, recorded)]
}

module.exports = { check, elfProblems, machoProblems, peProblems, sizeProblems }
