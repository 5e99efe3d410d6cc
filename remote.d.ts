// The types of `flakeforge/remote`, for CommonJS. remote.d.mts is its ES twin.

/**
 * IDs of flakeforge-server, over `fetch`: for browsers, workers and functions, which have no node number and no addon. They
 * are fetched ahead and handed out of memory; if a server fails, the next one is asked.
 *
 * @example
 * import { RemoteFlakeId } from 'flakeforge/remote'
 * const flake = await RemoteFlakeId.connect('http://127.0.0.1:8080', { name: 'default' })
 * console.log(await flake.nextAsync())
 *
 * @module
 */
export { RemoteFailure, RemoteFlakeId, RemoteOptions, RemoteStats } from './types/remote.js'
