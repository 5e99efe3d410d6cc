// The address of a store: how a message shows it, and its parameters.

import { addressesIn } from '../base/addresses.ts'
import { optionRangeError } from '../base/errors.ts'
import { nearest } from '../base/nearest.ts'
import { withoutSecrets } from '../base/printable.ts'

/**
 * `ERR_FLAKE_OPTION`: an address that opens no store.
 * @param wanted the requirement
 */
export const addressError = (url: string, wanted: string) => optionRangeError('store', url, wanted)

/** `ERR_FLAKE_OPTION`: an address whose parts cannot be told apart. */
export const unreadableError = (url: string) =>
  addressError(
    url,
    'a valid address, in whose password @ is written as %40, / as %2F, # as %23, ? as %3F and % as %25, and with an IPv6 ' +
      'address in brackets',
  )

/**
 * What is left of another way to write a list: quotes, brackets and dashes around addresses, or commas between them. Commas
 * are parts of some addresses. A folder's name may contain anything.
 */
const WRAPPED = /^(?!file:)(?:["'`[({<]|-\s|.*[,;|"'`]\s*[a-z][a-z\d+.-]*:\/\/|.*["'`,;]$)/is

/** Whether a text is an address, or several, in a form that we do not read. */
export const isWrapped = (text: string): boolean => WRAPPED.test(text.trim())

/** `ERR_FLAKE_OPTION`: addresses in such a form. */
export const wrappedError = (text: string) =>
  addressError(
    text,
    'an address, or three or five with spaces between them and no commas, quotes or brackets; the hosts of one address have ' +
      'commas between them and no spaces',
  )

/** `ERR_FLAKE_OPTION`: an address of several servers where one replicates to the others. */
export const manyHostsError = (url: string) =>
  addressError(url, 'the address of one server, or of a proxy that leads to the primary')

/** `ERR_FLAKE_OPTION`: a parameter of an address that is not read. */
export const parameterError = (url: string, name: string, wayOut: string) =>
  addressError(url, `an address without ?${name}=: ${wayOut}`)

/**
 * Refuses parameters that nobody reads, because a misspelt one may say which store it is, and those that are given twice.
 * @param known those that are read
 * @param waysOut what to do instead of some others, and `otherwise` of the rest
 */
export function checkParameters(
  url: string,
  parameters: URLSearchParams,
  { known, waysOut, otherwise }: { known: readonly string[]; waysOut: Record<string, string>; otherwise: string },
) {
  for (const name of parameters.keys()) {
    if (known.includes(name)) {
      if (parameters.getAll(name).length > 1) throw addressError(url, `an address with ?${name}= once`)
      continue
    }
    if (url.lastIndexOf('@') > url.indexOf('?')) throw unreadableError(url) // the name may be a part of a password
    const meant = nearest(name, known)
    const guess = meant === undefined ? otherwise : `did you mean ?${meant}=?`
    throw parameterError(url, name, Object.hasOwn(waysOut, name) ? waysOut[name] : guess)
  }
}

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

/** An address, or a list of several, without passwords. */
export const shownAddress = (text: string): string => addressesIn(text).map(withoutSecrets).join(' ')
