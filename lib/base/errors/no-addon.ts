// The error of everything that needs the addon, on runtimes without one.

import { flakeError } from './make.ts'

/** `ERR_FLAKE_LOAD`: there is no addon on this runtime. */
export function noAddon(call: string) {
  const message =
    `${call} needs the native addon of flakeforge, and there is none in browsers, in workers that are not Node's, and at the ` +
    "edge. RemoteFlakeId of 'flakeforge/remote' takes IDs from a flakeforge-server; in a page, the package " +
    '@flakeforge/binding-wasm32-wasi can make them.'
  return flakeError('ERR_FLAKE_LOAD', message, {})
}
