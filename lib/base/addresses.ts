// The addresses in one text, such as FLAKEFORGE_STORE.

/** Without the look behind, a long run of spaces would take quadratic time. */
const BEFORE_ADDRESS = /(?<!\s)\s+(?=[a-z][a-z\d+.-]*:\/\/|file:)/i
/** A user or a password may contain spaces: an @ follows. */
const BETWEEN_WORDS = /(?<!\s)\s+(?!\s|\S*@)/

/**
 * The addresses in a text, and what stands in the place of one. Those of several stores are separated by white space, because
 * one address may contain commas. A folder's name may contain spaces, but no address after one.
 */
export function addressesIn(text: string): string[] {
  const parts = text.trimStart().split(BEFORE_ADDRESS)
  return parts
    .flatMap((part) => (/^(?!file:)[^\s]*:\/\//i.test(part) ? part.split(BETWEEN_WORDS) : [part]))
    .filter((each) => each !== '')
}
