// The address of a store in a message.

import { optionRangeError } from '../../base/errors.ts'

/**
 * `ERR_FLAKE_OPTION`: an address that no store can be opened by.
 * @param wanted what it must be
 */
export const addressError = (url: string, wanted: string) => optionRangeError('store', url, wanted)

const addresses = new WeakMap<object, string | undefined>()

/** So that a warning can name the address of a store that was opened by one, or by FLAKEFORGE_STORE. */
export function rememberAddress<T extends object>(store: T, address: string | null | undefined) {
  addresses.set(store, address ?? undefined)
  return store
}

/** The address of a store that was opened by one, undefined if none was given; anything else as it is. */
export const addressOf = (given: unknown) => (addresses.has(given as object) ? addresses.get(given as object) : given)
