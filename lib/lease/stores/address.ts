// The address of a store in a message.

import { optionRangeError } from '../../base/errors.ts'

/**
 * `ERR_FLAKE_OPTION`: an address that no store can be opened by.
 * @param wanted what it must be
 */
export const addressError = (url: string, wanted: string) => optionRangeError('store', url, wanted)

const addresses = new WeakMap<object, string>()

/** So that a warning can name the address of a store that was opened by one. */
export function rememberAddress<T extends object>(store: T, address: string | null | undefined) {
  if (typeof address === 'string') addresses.set(store, address)
  return store
}

/** The address of a store that was opened by one; anything else as it is. */
export const addressOf = (given: unknown) => addresses.get(given as object) ?? given
