// The address of a store: the addresses in a list of several, how a message shows them, and the parameters of an address.

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
  addressError(url, 'a valid address, in whose password @ is written as %40, / as %2F, # as %23, ? as %3F and % as %25')

/** Addresses with commas in between, which are parts of some addresses. A folder's name may contain anything. */
export const HAS_COMMAS: RegExp = /^(?!\s*file:).*[,;]\s*[a-z][a-z\d+.-]*:\/\//is

/** `ERR_FLAKE_OPTION`: a list of addresses with commas. */
export const commasError = (text: string) =>
  addressError(text, 'an address, or three or five with spaces between them and no commas')

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
    if (/\?.*@/.test(url)) throw unreadableError(url) // the name may be a part of a password
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

/**
 * The addresses in a text. Those of several stores are separated by white space, because one address may contain commas. A
 * folder's name may contain spaces, but no address after one.
 */
export function addressesIn(text: string): string[] {
  const list = text.split(/\s(?=[a-z][a-z\d+.-]*:\/\/|file:)/i).filter((each) => each !== '')
  return list.length > 1 ? list.map((each) => each.trim()) : [text]
}

/** An address, or a list of several, without passwords. */
export const shownAddress = (text: string): string => addressesIn(text).map(withoutSecrets).join(' ')
