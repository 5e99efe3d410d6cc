// The address of a store: the addresses in a list of several, and how a message shows them.

import { optionRangeError } from '../base/errors.ts'
import { withoutSecrets } from '../base/printable.ts'

/**
 * `ERR_FLAKE_OPTION`: an address that opens no store.
 * @param wanted the requirement
 */
export const addressError = (url: string, wanted: string) => optionRangeError('store', url, wanted)

/** The host of a URL: an IPv6 address has brackets there, which clients do not take. */
export const hostOf = ({ hostname }: { hostname: string }): string => hostname.replace(/^\[(.+)\]$/, '$1')

const addresses = new WeakMap<object, string | readonly string[] | undefined>()

/** Lets a warning name the address from which a store was opened, whether given or from FLAKEFORGE_STORE. */
export function rememberAddress<T extends object>(store: T, address: string | readonly string[] | null | undefined) {
  addresses.set(store, address ?? undefined)
  return store
}

/**
 * The address from which a store was opened, undefined if none was given; a list as one text; any other value as it is.
 */
export function addressOf(given: unknown) {
  const address = addresses.has(given as object) ? addresses.get(given as object) : given
  return Array.isArray(address) ? address.join(' ') : address
}

/**
 * The addresses in a text. Those of several stores are separated by white space, because one address may contain commas. A
 * folder's name may contain spaces, but no address after one.
 */
export function addressesIn(text: string): string[] {
  const list = text.split(/\s+(?=[a-z][a-z\d+.-]*:\/\/|file:)/i).filter((each) => each !== '')
  return list.length > 1 ? list.map((each) => each.trim()) : [text]
}

/** An address, or a list of several, without passwords. */
export const shownAddress = (text: string): string => addressesIn(text).map(withoutSecrets).join(' ')
