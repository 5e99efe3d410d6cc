// Errors about a program's surroundings: the environment, the store's name, and the addon that is not installed.

import type { ErrorClass } from './codes.ts'
import type { FlakeError } from './flake-error.ts'
import { flakeError, pageOf, show } from './make.ts'
import { optionError } from './values.ts'

const path = process.getBuiltinModule('node:path')

const HOMELESS =
  "Give all processes of this machine one folder: FLAKEFORGE_STORE=file:/var/lib/…, or join('file:/var/lib/…')"

/** Why there is no default folder, and what to do instead. */
const NO_DEFAULT_FOLDER: Record<'container' | 'homeless' | 'relative', (found?: string) => string> = {
  container: (sign) =>
    `No store is set, and this process runs in a container (${sign}), where there is no default: each container would ` +
    'have its own folder, and two of them would generate the same IDs. Give all containers one store: FLAKEFORGE_STORE=redis://HOST ' +
    "(or valkey://…, postgres://…, mysql://…, etcd://…), or join('redis://HOST'). On one machine it may be a folder on a volume " +
    'that all of them mount: FLAKEFORGE_STORE=file:/var/lib/…. Set a folder too if this is not a container but the whole machine',
  homeless: () => `No store is set, and there is no default folder, because this user has no home folder. ${HOMELESS}`,
  relative: (home) =>
    'No store is set, and there is no default folder, because the home folder must be an absolute path, but is ' +
    `${show(home)}. ${HOMELESS}`,
}

/**
 * `ERR_FLAKE_OPTION`: no store was given, and there is no default. `kind`: 'container', 'homeless' or 'relative'; `found`:
 * the sign of a container, or the path of the home folder.
 */
export function noDefaultFolderError(
  kind: 'container' | 'homeless' | 'relative',
  { found, cause }: { found?: string; cause?: unknown } = {},
) {
  const message = NO_DEFAULT_FOLDER[kind](found)
  return flakeError('ERR_FLAKE_OPTION', message, { option: 'store', value: undefined, cause }, TypeError)
}

/** `ERR_FLAKE_OPTION`: options were given in place of the store. `call`: the function that was called. */
export function optionsFirstError(call: string, options: object) {
  const keys = Object.keys(options)
  const store = keys.find((key) => /^(?:store|address|ur[il]|client)$/i.test(key))
  const others = keys.filter((key) => key !== store).join(', ')
  const second = others === '' ? '' : `, { ${others} }`
  const example =
    store === undefined ? `${call}(undefined${second}) uses the default store.` : `Write ${call}(${store}${second}).`
  const message = `The first argument of ${call}() is the store, and options are the second. ${example}`
  return optionError(TypeError, 'store', options, message)
}

/** What an address is for that is often taken for one of a store. */
const NO_STORES: [address: RegExp, wayOut: string][] = [
  [
    /^https?:/i,
    'RemoteFlakeId.connect() of flakeforge/remote takes the URL of a flakeforge-server. An address of etcd begins with etcd://',
  ],
  [/^mongodb(?:\+srv)?:/i, `For MongoDB, see ${pageOf('docs/store/mongodb.md')}`],
]

/** The end of the error about such an address. */
export const noStore = (url: string): string[] =>
  NO_STORES.filter(([address]) => address.test(url)).map(([, wayOut]) => `. ${wayOut}`)

/** `ERR_FLAKE_OPTION`: the constructor got a store, or several. */
export function storeToConstructorError(given: unknown) {
  const message = `options must be an object, but is ${show(given)}. For a node number from a store, call await FlakeId.join(store)`
  return optionError(TypeError, 'options', given, message)
}

/** `ERR_FLAKE_OPTION`: the constructor got an option of a lease, or its store. */
export function joinOptionError(option: string, value: unknown) {
  const place = option === 'store' ? 'the first argument' : 'an option'
  const message = `${option} is ${place} of await FlakeId.join(store, options), which leases a node number from a store`
  return optionError(TypeError, option, value, message)
}

const REMARKS: Record<string, string> = {
  id: ', the whole node number',
  layout: ', whose fields have their numbers of bits',
}

/** `ERR_FLAKE_OPTION`: another package's name of one of our options, `meant`. */
export function otherNameError(option: string, value: unknown, meant: string) {
  const message = `Unknown option ${show(option)}. Did you mean '${meant}'${REMARKS[meant] ?? ''}?`
  return optionError(TypeError, option, value, message)
}

/** The absolute path that a relative one resolves to. Only a shell expands '~'. */
export const meantPath = (given: string) =>
  /^~[/\\]/.test(given) ? path.join(process.getBuiltinModule('node:os').homedir(), given.slice(2)) : path.resolve(given)

/** `ERR_FLAKE_OPTION`: a folder or file whose path depends on the working directory. `where`: its path, at the end of `value`. */
export function relativePathError(option: string, value: string, where: string) {
  const meant = show(value.slice(0, value.length - where.length) + meantPath(where))
  const message =
    `${option} must be an absolute path, but is ${show(value)}: a process that runs in another folder would use another ` +
    `file, and generate equal IDs. Did you mean ${meant}?`
  return optionError(RangeError, option, value, message)
}

/** The same error for a store that the environment named. */
export function variableError(thrown: unknown) {
  const error = thrown as FlakeError<'ERR_FLAKE_OPTION'>
  const message = `The environment variable FLAKEFORGE_STORE cannot be used: ${error.message}`
  const { code, option, value, cause } = error
  const fields = { cause, ...(option && { option, value }) }
  return flakeError(code, message, fields, error.constructor as ErrorClass)
}

/** `ERR_FLAKE_OPTION`: no client. An address is opened elsewhere. `wanted`: the clients that the store takes. */
export function noClientError(given: unknown, wanted: string) {
  const wayOut = typeof given === 'string' ? '. FlakeId.join() and openStore() take an address' : ''
  return optionError(TypeError, 'client', given, `client must be ${wanted}, but is ${show(given)}${wayOut}`)
}

/** `ERR_FLAKE_OPTION`: a client of the right kind that a store cannot use. `why` states the fault and the remedy. */
export function clientError(client: unknown, why: string) {
  return optionError(TypeError, 'client', client, `A store cannot use this client. ${why}`)
}

/** `ERR_FLAKE_LOAD`: the native addon cannot be loaded. `why`: the cause and the remedy. */
export function loadError(why: string, cause: unknown) {
  return flakeError('ERR_FLAKE_LOAD', `flakeforge could not load its native addon. ${why}`, { cause })
}
