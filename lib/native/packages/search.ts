// Where code may be loaded from: the `node_modules` folders of the program, and no others. Node.js itself goes on to the
// folders above the project, to NODE_PATH and to the user's home, where somebody else may have put a package of that name.
//
// A file's program is the folder that its `node_modules` are in: the outermost one if the file is in a package, else its
// package's, that is the nearest one with a package.json (but not one that has only a `type`), else the file's own. If that
// folder belongs to a workspace, the workspace's root is the limit. We start at the file that contains this code, and at the
// one that Node.js was started with.

import { isThere } from '../is-there.ts'
import type { Addon } from '../types.ts'

const { lstatSync, readFileSync, realpathSync } = process.getBuiltinModule('node:fs')
const { basename, dirname, isAbsolute, join, sep } = process.getBuiltinModule('node:path')

/** `#packages` of package.json: packages by their names. Node has traced.cjs, and bundlers take bundled.mjs. */
interface Packages {
  loadAddon: (target: string) => Addon | undefined
  loadClient: (name: string) => unknown
  /** only in a bundle */
  filename?: string
}

declare const require: (name: '#packages') => Packages

const packages = () => require('#packages')

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

/** The folders that contain a path, the nearest first. */
function* above(path: string) {
  for (let folder = dirname(path), last = path; folder !== last; last = folder, folder = dirname(folder)) yield folder
}

/** The owner of a file, or of a link itself, as a number: 0 on Windows; undefined if it is missing. */
const ownerOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.uid

/**
 * Whether a file or folder is there and of the program that runs `start`, and not of another user who may write to a folder
 * above it: it belongs to this user, to root, or to the owner of `start`.
 */
export function isOfProgram(path: string, start: string) {
  try {
    const owner = ownerOf(path)
    if (owner === undefined) return false
    return owner === 0 || owner === process.geteuid?.() || owner === ownerOf(start)
  } catch {
    return false // the permissions of the runtime refuse it
  }
}

/**
 * The text of a file of the program; undefined if there is none. A folder of that name has no text: on Windows, where nobody
 * checks owners, any user may make one in the root of a drive, but no file.
 */
function textOf(path: string, start: string) {
  try {
    return isOfProgram(path, start) ? readFileSync(path, 'utf8') : undefined
  } catch {
    // a folder, or it cannot be read
  }
}

/** The manifest of a folder; undefined if there is none. One that cannot be understood is empty. */
function manifestOf(folder: string, start: string): object | undefined {
  const text = textOf(join(folder, 'package.json'), start)
  if (text === undefined) return
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/**
 * Whether a folder is that of a package. A manifest that has only a `type` is not a package's: tools put it next to what they
 * build, to say which kind of modules that is.
 */
function isPackage(folder: string, start: string) {
  const manifest = manifestOf(folder, start)
  return manifest !== undefined && Object.keys(manifest).join() !== 'type'
}

/** Whether a folder is the root of a workspace: of npm, Yarn and Bun, or of pnpm. */
function isWorkspace(folder: string, start: string) {
  if (textOf(join(folder, 'pnpm-workspace.yaml'), start) !== undefined) return true
  return Object.hasOwn(manifestOf(folder, start) ?? {}, 'workspaces')
}

/** The folder that contains the program of a file: see the top. */
function rootOf(start: string) {
  const folders = [...above(start)]
  const outermost = folders.findLast((folder) => basename(folder) === 'node_modules')
  const packaged = folders.find((folder) => isPackage(folder, start))
  const own = outermost === undefined ? (packaged ?? folders[0]) : dirname(outermost)
  const outer = folders.slice(folders.indexOf(own) + 1)
  return outer.find((folder) => isWorkspace(folder, start)) ?? own
}

/** The `node_modules` in which a file may find packages, the nearest first. */
function placesOf(start: string) {
  const root = rootOf(start)
  const folders = [...above(start)].filter((folder) => basename(folder) !== 'node_modules')
  const places = folders.slice(0, folders.indexOf(root) + 1).map((folder) => join(folder, 'node_modules'))
  return places.filter((place) => isOfProgram(place, start))
}

/** The path of a package in a `node_modules`; undefined if it is not there, wherever else it may be. */
function inPlace(place: string, name: string) {
  const folder = join(place, name)
  if (!isThere(folder)) return
  const path = resolve(join(dirname(place), 'noop.js'), name) // which goes on to other places if this one has only a folder
  const isIn = (folder: string) => path?.startsWith(folder + sep)
  return isIn(folder) || isIn(realpathSync(folder)) ? path : undefined
}

function inPlaces(places: string[], name: string) {
  for (const place of places) {
    const path = inPlace(place, name)
    if (path !== undefined) return path
  }
}

/**
 * Whether the runtime itself knows which package a file means by a name, without folders: Yarn's Plug'n'Play, and Deno or Bun
 * with their global cache.
 */
function isMapped(start: string) {
  const { findPnpApi } = process.getBuiltinModule('node:module') as { findPnpApi?: (path: string) => unknown }
  if (findPnpApi !== undefined) return Boolean(findPnpApi(start))
  const { deno, bun } = process.versions
  const isInstalled = here?.includes(`${sep}node_modules${sep}`)
  return (deno ?? bun) !== undefined && packageFolder() !== undefined && !isInstalled
}

/**
 * Where to look for packages, the nearest first. The program, if it is another one's, comes after this code; if this code
 * belongs to it, its own folders are the nearest.
 */
function starts() {
  if (here === undefined) return []
  const file = packageFolder() === undefined ? undefined : program() // a bundle has only its own packages
  if (file === undefined || file === here) return [here]
  return file.startsWith(rootOf(here) + sep) ? [file, here] : [here, file]
}

/** A file's own packages: its flakeforge's too, because package managers that isolate packages show it only that. */
function* lookupsOf(start: string) {
  if (isMapped(start)) {
    yield (name: string) => resolve(start, name)
    const flakeforge = resolve(start, 'flakeforge')
    if (flakeforge !== undefined) yield (name: string) => resolve(flakeforge, name)
    return
  }
  const places = placesOf(start)
  for (const place of places) yield (name: string) => inPlace(place, name)
  const flakeforge = inPlaces(places, 'flakeforge')
  if (flakeforge !== undefined) yield (name: string) => inPlaces(placesOf(flakeforge), name)
}

/** The path of a package, or undefined. */
export type Lookup = (name: string) => string | undefined

/** The places of packages, the nearest first: in each, several names may be looked up. */
export const lookups = (): Lookup[] => starts().flatMap((start) => [...lookupsOf(start)])

/** A dependency of this code. */
export function findOwn(name: string) {
  if (here === undefined) return
  for (const lookup of lookupsOf(here)) {
    const path = lookup(name)
    if (path !== undefined) return path
  }
}

/**
 * Packages that a tool has put into the program: only a bundle has them. In a package, Node would search for these names
 * everywhere.
 */
export const builtIn = (): Packages | undefined => (packageFolder() === undefined ? packages() : undefined)

/** Loads a CommonJS file or an addon. */
export const load = (path: string) => requireIn(path)(path)

/** The folder of the package if this code is still in it, and not in a bundle. No bundle has a file of this name. */
export function packageFolder() {
  if (here === undefined) return
  const folder = dirname(here)
  return isOfProgram(join(folder, 'traced.cjs'), here) ? dirname(folder) : undefined
}
