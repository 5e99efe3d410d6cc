// Where code may be loaded from: the program's own places only. These are the file that contains this code and, if it is a
// package outside the project, the file that Node was started with. Other folders, such as the current one or the parent of a
// bundle, may belong to another user.

import type { Addon } from '../addon.ts'
import { isThere } from '../is-there.ts'

const { dirname, isAbsolute, join } = process.getBuiltinModule('node:path')

/** `#packages` of package.json: packages by their names. Node has traced.cjs, and bundlers take bundled.mjs. */
interface Packages {
  loadAddon: (target: string) => Addon | undefined
  loadClient: (name: string) => unknown
  /** only in a bundle */
  filename?: string
}

declare const require: (name: '#packages') => Packages

export const packages = () => require('#packages')

const isPath = (name: string | undefined) => name !== undefined && isAbsolute(name)

/** A bundle that is an ES module has no `__filename`, unless `node --eval` loads it: there it is `[eval]`, in every module. */
const ownFile = typeof __filename === 'string' && isPath(__filename) ? __filename : packages().filename

/**
 * The file that contains this code: of the package, a bundle, or a single executable application. Bundlers may change the
 * name.
 */
export const here = isPath(ownFile) ? ownFile : undefined

/** A `require` in that file; not `require` itself, which bundlers change. */
const requireIn = (file: string) => process.getBuiltinModule('node:module').createRequire(file)

/** The path that `name` resolves to in the file `start`, or undefined. */
function resolve(start: string, name: string) {
  try {
    return requireIn(start).resolve(name)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'MODULE_NOT_FOUND') throw error
  }
}

/** Whether Node runs a file. Otherwise its code came as text, and the user's first argument is in the file's place. */
const hasProgram = () => (process as { _eval?: string })._eval === undefined && here !== process.execPath

/** The real path of the file that Node was started with: a link to it may be anywhere. */
function program() {
  const path = process.argv[1]
  return path && isAbsolute(path) && hasProgram() ? resolve(path, path) : undefined
}

/** The same for the flakeforge that the file `start` resolves. */
function resolveFromFlakeforge(start: string, name: string) {
  const flakeforge = resolve(start, 'flakeforge')
  return flakeforge && resolve(flakeforge, name)
}

/**
 * The path of a package, or undefined if it is not installed. With package managers that isolate packages (pnpm, Yarn PnP)
 * the project finds only its direct dependencies, and flakeforge finds only its own addon. So we look from both.
 */
function findFrom(start: string | undefined, name: string) {
  if (start !== undefined) return resolve(start, name) ?? resolveFromFlakeforge(start, name)
}

/** A dependency of this code. */
export const findOwn = (name: string) => findFrom(here, name)

/** A dependency of the program, which uses this code as a package. A bundle has only its own. */
export const findOfProgram = (name: string) => (packageFolder() === undefined ? undefined : findFrom(program(), name))

/** A dependency of this code or of the program. */
export const find = (name: string) => findOwn(name) ?? findOfProgram(name)

/** Loads a CommonJS file or an addon. */
export const load = (path: string) => requireIn(path)(path)

/** The folder of the package if this code is still in it, and not in a bundle. No bundle has a file of this name. */
export function packageFolder() {
  if (here === undefined) return
  const folder = dirname(here)
  return isThere(join(folder, 'traced.cjs')) ? dirname(folder) : undefined
}
