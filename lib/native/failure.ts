// Why the native addon could not be loaded, as one error with the remedy.
//
// Loaders keep only the messages of the errors they met, and Node has one message for several causes. So a cause is
// identified by its message and by how the process was started. The advice is for users of the published package, who have
// nothing to build.

import { loadError } from '../base/errors.ts'
import { isThere } from './is-there.ts'
import { here, packageFolder } from './packages/search.ts'
import { hasBinary, listed } from './platforms.ts'

const { statSync } = process.getBuiltinModule('node:fs')
const { dirname, join } = process.getBuiltinModule('node:path')

const DENO_FLAGS = '--allow-ffi --allow-read --allow-env'
const supports = () => `flakeforge supports ${listed()}; elsewhere it runs as WebAssembly.`
const WASM = '@flakeforge/binding-wasm32-wasi'
const INSTALL =
  'Run `npm install --include=optional`. If node_modules or the lock file come from another platform, remove both first.'
const REPLACE =
  'Beside a bundle, replace the file that was copied there; an override in package.json may pin an old one. '
const FOR_BUNDLE =
  "Copy its file, flakeforge.*.node, next to the bundle, as the bundle's owner. Or install it in the bundle's project: `npm install --include=optional` puts it in the node_modules beside the nearest package.json, and no other is searched."
const REINSTALL = 'Remove node_modules and install again on this machine.'

/** Messages of a loader that found nothing at a place. */
const NOTHING_THERE = /^Cannot (?:find|require) (?:module|package) /

/** The faults of an addon that was found: a pattern, and the advice. The first match is used. */
const CAUSES: [wanted: RegExp, say: (text: string) => string][] = [
  [/could generate the same IDs|must be an absolute path/, (text) => `${text}.`],
  [/run again with the --allow-/, (text) => `Deno does not allow it (${text}). Run \`deno run ${DENO_FLAGS}\`.`],
  [/loading addons is disabled/, disabled],
  [/Access to this API has been restricted/, unreadable],
  [/version [`']GLIBC_([\d.]+)' not found/, oldGlibc],
  [/failed to map segment/, noexec],
  [/shared object file: Permission denied|EACCES|operation not permitted/i, forbidden],
  [/Is a directory|cannot read file data/, notFile],
  [
    /ld-linux|libc\.so\.6|libc\.musl|ld-musl/,
    (text) => `It was built for another C library, glibc or musl (${text}). ${replaceFile()}`,
  ],
  [/invalid ELF|ELF class|too short|truncated|mach-o|valid Win32|exec format/i, unfit],
  [/\.node: cannot open shared object file: No such file/, unfit], // glibc says so of a file for another processor
  [/^/, other],
]

/** Node has one message for both causes. */
function disabled() {
  if (process.permission !== undefined) {
    return "Node's permission model forbids native addons. Add --allow-addons beside --permission."
  }
  return "Node was started with --no-addons. Leave it out; it may also be in NODE_OPTIONS or in a Worker's execArgv."
}

function unreadable() {
  return "Node's permission model does not let it read the file. Add --allow-fs-read with the folder of your node_modules."
}

function oldGlibc(text: string) {
  const needed = /GLIBC_([\d.]+)/.exec(text)?.[1]
  return `The binary needs glibc ${needed} or newer, which this system does not have (${text}). ${supports()}`
}

function noexec(text: string) {
  return `The system does not allow code of that file to run, as on a file system mounted with noexec (${text}). Install the program on another one, or mount it without noexec.`
}

function forbidden(text: string) {
  return `This user has no right to read the file, or to search a folder above it (${text}). Grant it with chmod or chown.`
}

function notFile(text: string) {
  return `That is not a file (${text}). ${replaceFile()}`
}

function unfit(text: string) {
  if (isChosenMissing()) return other(text)
  return `The file is damaged, or built for another platform (${text}). ${replaceFile()}`
}

/** What to do about a file that is not the addon for this machine. */
function replaceFile() {
  const chosen = process.env[CHOSEN]
  if (!chosen) return REINSTALL
  return `${CHOSEN} names ${chosen}, and every package of napi-rs reads it. Unset it, or name the addon of this release.`
}

function other(text: string) {
  return isChosenMissing() ? `${CHOSEN} names ${process.env[CHOSEN]}, which does not exist.` : `${text}. ${supports()}`
}

/** An error and its causes, each with the first line of its text. Under Jest they are not instances of this realm's Error. */
function* chain(thrown: unknown) {
  for (let at = thrown as Error; typeof at?.message === 'string'; at = at.cause as Error) {
    yield { message: at.message.split('\n')[0], error: at }
  }
}

/** The folder of an installed package that this process has no permission to read. */
function closedFolder(target: string) {
  let folder = here
  while (folder !== undefined && folder !== dirname(folder)) {
    folder = dirname(folder)
    const own = join(folder, 'node_modules', '@flakeforge', `binding-${target}`)
    try {
      statSync(join(own, 'package.json'))
    } catch (error) {
      if (/^(?:EACCES|EPERM)$/.test((error as NodeJS.ErrnoException).code ?? '')) return own
    }
  }
}

/** No addon was found at all. */
function missing(errors: { message: string }[]) {
  const target = targetOfMissing(errors) ?? `${process.platform}-${process.arch}`
  const closed = closedFolder(target)
  if (closed !== undefined) return forbidden(closed)
  const hint = isSourceCheckout() ? ' In this source checkout, `npm run build` makes a binary; it needs Rust.' : ''
  const what = hasBinary(target)
    ? `The package @flakeforge/binding-${target} is not installed.`
    : `There is no binary for ${target}, and the package ${WASM} for such platforms is not installed. ${supports()}`
  return `${what} ${packageFolder() === undefined ? FOR_BUNDLE : INSTALL}${hint}`
}

const CHOSEN = 'NAPI_RS_NATIVE_LIBRARY_PATH'

/** Whether the file that the environment names is missing. */
function isChosenMissing() {
  const chosen = process.env[CHOSEN]
  return chosen ? !isThere(chosen) : false
}

/** The platform whose package was not found. */
function targetOfMissing(errors: { message: string }[]) {
  const targets = errors.map(({ message }) => /'@flakeforge\/binding-([a-z\d-]+)/.exec(message)?.[1])
  return targets.find((target) => target !== undefined)
}

function isSourceCheckout() {
  const folder = packageFolder()
  return folder !== undefined && isThere(join(folder, 'Cargo.toml'))
}

/** The error for what the addon's loader threw. */
export function nativeFailure(thrown: unknown) {
  const errors = [...chain(thrown)]
  // Deno may refuse to read the environment, and has reported that by now.
  const tried = errors.filter(({ message }) => !NOTHING_THERE.test(message) || process.env[CHOSEN])
  for (const [wanted, say] of CAUSES) {
    const met = tried.find(({ message }) => wanted.test(message))
    if (met !== undefined) return loadError(say(met.message), met.error)
  }
  return loadError(missing(errors), thrown)
}

/**
 * The error for an addon of another release.
 * @param addon its version; undefined if it has none, or is not our addon
 */
export function versionFailure(addon: string | undefined, ours: string) {
  const what =
    addon === undefined ? 'The loaded file is not an addon of flakeforge' : `The addon is from flakeforge ${addon}`
  return loadError(
    `${what}, and its JavaScript${here ? `, ${here},` : ''} is from flakeforge ${ours}. They must be of the same release. ${REPLACE}${replaceFile()}`,
    undefined,
  )
}

/** The error for two copies of the addon, or for one and the WebAssembly, that cannot share their cursors. */
export function strangersFailure({ here, there }: { here: string; there: string }) {
  const why = `This process has already loaded ${there}, and ${here} cannot share node numbers with it, so both could generate the same IDs.`
  return loadError(
    `${why} Use the same release of flakeforge in all packages and threads, either as a binary or as WebAssembly, and restart the process.`,
    undefined,
  )
}
