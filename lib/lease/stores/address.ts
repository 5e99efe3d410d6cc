// The address of a store in a message. It must never show a password.

import { optionRangeError } from '../../base/errors.ts'

/**
 * A password may be before the
 * @ , and may contain characters that it should not, such as a slash. It may also be among
 * the parameters. If an @ comes after a question mark, we cannot tell, so nothing is shown.
 */
export function withoutPassword(url: string) {
  const scheme = /^[a-z][a-z\d+.-]*:\/\//i.exec(url)?.[0] ?? ''
  const [address, ...parameters] = url.slice(scheme.length).split('?')
  if (parameters.some((part) => part.includes('@'))) return `${scheme}…`
  return `${scheme}${address.replace(/.*@/s, '…@')}${parameters.length > 0 ? '?…' : ''}`
}

/**
 * `ERR_FLAKE_OPTION`: an address that no store can be opened by.
 * @param wanted what it must be
 */
export const addressError = (url: string, wanted: string) => optionRangeError('store', withoutPassword(url), wanted)

const addresses = new WeakMap<object, string>()

/** So that a warning can name the address of a store that was opened by one. */
export function rememberAddress<T extends object>(store: T, address: string | null | undefined) {
  if (typeof address === 'string') addresses.set(store, address)
  return store
}

/** The address of a store that was opened by one; anything else as it is. */
export const addressOf = (given: unknown) => addresses.get(given as object) ?? given
