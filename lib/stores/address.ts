// The address of a store in a message.

import { optionRangeError } from '../base/errors.ts'

/**
 * `ERR_FLAKE_OPTION`: an address that opens no store.
 * @param wanted the requirement
 */
export const addressError = (url: string, wanted: string) => optionRangeError('store', url, wanted)

/** The host of a URL: an IPv6 address has brackets there, which clients do not take. */
export const hostOf = ({ hostname }: { hostname: string }): string => hostname.replace(/^\[(.+)\]$/, '$1')

const addresses = new WeakMap<object, string | undefined>()

/** Lets a warning name the address from which a store was opened, whether given or from FLAKEFORGE_STORE. */
export function rememberAddress<T extends object>(store: T, address: string | null | undefined) {
  addresses.set(store, address ?? undefined)
  return store
}

/** The address from which a store was opened, undefined if none was given; any other value as it is. */
export const addressOf = (given: unknown) => (addresses.has(given as object) ? addresses.get(given as object) : given)
