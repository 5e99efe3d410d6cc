// Finds the addon: the file that NAPI_RS_NATIVE_LIBRARY_PATH names, else one that was built in this checkout, else the file
// beside a bundle, else the package of this platform, else WebAssembly (fallback.ts). search.ts defines where packages may
// be. Every program that uses flakeforge waits for this, so it loads and checks as little as it can. It picks a binary by
// name and does not try several: a binary for another C library may load, and crash later.

import { loadInstead } from './fallback.ts'
import { isThere } from './is-there.ts'
import { builtIn, findOwn, here, isOfProgram, load, packageFolder } from './packages/search.ts'

const { closeSync, openSync, readSync } = process.getBuiltinModule('node:fs')
const { basename, dirname, isAbsolute, join, toNamespacedPath } = process.getBuiltinModule('node:path')

/** The addon's exports. Every build writes these types. */
export type Addon = typeof import('../../src/native.d.ts')

const INTERPRETER = 3 // PT_INTERP

/**
 * The position of the loader's name in a program's file, from its ELF header: 64 bits, little-endian. In most programs it is
 * near the beginning. A tool that changes it, such as patchelf, moves it to the end.
 */
function placeOfLoader(head: Buffer) {
  const [start, size, count] = [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54), head.readUInt16LE(56)]
  for (let at = start; at < start + size * count; at += size)
    if (head.readUInt32LE(at) === INTERPRETER) return Number(head.readBigUInt64LE(at + 8))
  return 0
}

/** Whether a program uses musl: it names the loader of its C library. */
export function usesMusl(program: string) {
  let file
  try {
    file = openSync(program, 'r')
    const head = Buffer.alloc(4096)
    readSync(file, head, 0, head.length, 0)
    const loader = Buffer.alloc(64)
    readSync(file, loader, 0, loader.length, placeOfLoader(head))
    return loader.toString('latin1').startsWith('/lib/ld-musl-')
  } catch {
    return false // not such a program, or Node's or Deno's permissions refuse the read
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** The CPUs with binaries for both musl and glibc, with musl's name for the CPU in its loader. */
const MUSL_CPUS: Record<string, string | undefined> = {
  x64: 'x86_64',
  arm64: 'aarch64',
  arm: 'armhf',
  ppc64: 'powerpc64le',
  s390x: 's390x',
  riscv64: 'riscv64',
}

/** Whether Node itself uses musl. A glibc system may have musl too, but most do not, so this check is usually enough. */
const isMusl = (arch: string) => isThere(`/lib/ld-musl-${MUSL_CPUS[arch]}.so.1`) && usesMusl(process.execPath)

/** What `process.arch` does not show. Only few CPUs need it. */
const NODE = {
  get endianness() {
    return process.getBuiltinModule('node:os').endianness()
  },
  /** The version of 32-bit ARM. There are builds of Node for ARMv6, where code for ARMv7 crashes. */
  get armVersion() {
    const { arm_version: version } = process.config.variables as Record<string, unknown>
    return Number(version)
  },
}

/** The CPU's name in platform names. */
export function cpuOf(arch: string, node: { endianness: string; armVersion: number }) {
  if (arch === 'ppc64' && node.endianness === 'BE') return 'ppc64be'
  return arch === 'arm' && node.armVersion < 7 ? 'armv6' : arch
}

/** A platform's name in packages and files. A platform without a binary has no package. */
export function targetOf(platform: string, cpu: string, musl?: boolean) {
  if (platform === 'win32') return `win32-${cpu}-msvc`
  if (platform !== 'linux') return `${platform}-${cpu}`
  if (musl) return `linux-${cpu}-musl`
  return cpu === 'arm' ? 'linux-arm-gnueabihf' : `linux-${cpu}-gnu`
}

/** The platform that this Node was built for. */
function ownTarget() {
  const { platform, arch } = process
  return targetOf(platform, cpuOf(arch, NODE), platform === 'linux' && isMusl(arch))
}

/** Loads the file just as `require` would. Creating a `require` would take Node as long as loading the addon. */
function loadFile(path: string): Addon {
  const addon = { exports: {} as Addon }
  process.dlopen(addon, toNamespacedPath(path))
  return addon.exports
}

/** The addon's file: beside a bundle, or where a checkout or a package manager puts it. */
function findFile(name: string, file: string) {
  if (here === undefined) return
  const folders = (function* () {
    yield dirname(here)
    const own = packageFolder()
    if (own === undefined) return
    yield own
    yield join(own, 'node_modules', name)
    const above = dirname(own)
    if (basename(above) === 'node_modules') yield join(above, name)
  })()
  for (const folder of folders) {
    const path = join(folder, file)
    if (isOfProgram(path, here)) return path
  }
}

/** The addon of a target from its package; undefined if it is missing. */
function loadPackage(target: string): Addon | undefined {
  const path = findOwn(`@flakeforge/binding-${target}`)
  return path === undefined ? builtIn()?.loadAddon(target) : load(path)
}

/** The file that the environment names. It is absolute, because anyone may own the current folder. */
function loadChosen(path: string) {
  if (!isAbsolute(path)) throw new Error(`NAPI_RS_NATIVE_LIBRARY_PATH must be an absolute path, but is ${path}`)
  return path.endsWith('.cjs') ? load(path) : loadFile(path)
}

/** The addon; throws an error that explains why it cannot be loaded. */
export function loadAddon(): Addon {
  const chosen = process.env.NAPI_RS_NATIVE_LIBRARY_PATH
  if (chosen) return loadChosen(chosen)
  const target = ownTarget()
  const name = `@flakeforge/binding-${target}`
  const file = findFile(name, `flakeforge.${target}.node`)
  if (file !== undefined) return loadFile(file)
  const addon = loadPackage(target) ?? loadInstead(target, loadPackage)
  if (addon !== undefined) return addon
  throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' })
}
