// `flakeforge/remote`: IDs that flakeforge-server generates. Browsers load it too, so none of its dependencies uses the addon or
// a module of Node.

/**
 * IDs of flakeforge-server, over `fetch`: for browsers, workers and functions, which have no node number and no addon. They
 * are fetched ahead and served from memory; if a server fails, the next one is asked.
 *
 * @example
 * import { RemoteFlakeId } from 'flakeforge/remote'
 * const flake = await RemoteFlakeId.connect('http://127.0.0.1:8080', { name: 'default' })
 * console.log(await flake.nextAsync())
 *
 * @module
 */
export type { RemoteFailure } from '../base/errors/codes.ts'
export type { FlakeErrorClass, FlakeErrorCode } from '../base/errors/flake-error.ts'
export { FlakeError } from '../base/errors/flake-error.ts'
export type { PrefixOptions } from '../codec/prefix.ts'
export type { RemoteOptions } from '../remote/options.ts'
export type { RemoteStats } from '../remote/remote-flake-id.ts'
export { RemoteFlakeId } from '../remote/remote-flake-id.ts'
