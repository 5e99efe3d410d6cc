// Where code may be loaded from: the program's own places, and no other. They are the file that this code is in and, if it is a
// package that is kept apart from the project, the file that Node was started with. Another folder may belong to another
// user: the current one, and the one above a bundle.

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

/** The file that this code is in: of the package, a bundle, or a single executable application. Bundlers may give another name. */
export const here = isPath(ownFile) ? ownFile : undefined

/** A `require` in that file. It must not be `require` itself, which bundlers change. */
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

/** Whether there is a program. Otherwise its code came as text, and what is in its place is the user's first argument. */
const hasProgram = () => (process as { _eval?: string })._eval === undefined && here !== process.execPath

/** The file that Node was started with, where it really is: a link to it may be anywhere. */
function program() {
  const path = process.argv[1]
  return path && isAbsolute(path) && hasProgram() ? resolve(path, path) : undefined
}

/** The same for the flakeforge that the file `start` sees. */
function resolveFromFlakeforge(start: string, name: string) {
  const flakeforge = resolve(start, 'flakeforge')
  return flakeforge && resolve(flakeforge, name)
}

/**
 * The path of a package, or undefined if it is not installed. With package managers that keep packages apart (pnpm,
 * Yarn PnP) the project finds only what it names itself, and flakeforge finds only its own addon. So we look from both.
 */
function findFrom(start: string | undefined, name: string) {
  if (start !== undefined) return resolve(start, name) ?? resolveFromFlakeforge(start, name)
}

/** A package that belongs to this code. */
export const findOwn = (name: string) => findFrom(here, name)

/** A package that belongs to the program, which uses this code as a package. A bundle has only its own. */
export const findOfProgram = (name: string) => (packageFolder() === undefined ? undefined : findFrom(program(), name))

/** A package that belongs to this code or to the program. */
export const find = (name: string) => findOwn(name) ?? findOfProgram(name)

/** Loads a file of CommonJS, or an addon. */
export const load = (path: string) => requireIn(path)(path)

/** The folder of the package if this code is still in the package, and not in a bundle. No bundle has a file of this name. */
export function packageFolder() {
  if (here === undefined) return
  const folder = dirname(here)
  return isThere(join(folder, 'traced.cjs')) ? dirname(folder) : undefined
}
