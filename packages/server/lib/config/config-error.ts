// An error of the configuration: one sentence for the operator. The server then ends with status 2.

import { nearest } from '../../../shared.ts'

export class ConfigError extends Error {}

/**
 * An unknown word, with the one that was probably meant.
 * @param what such as "option '--prot'"
 */
export function unknown(
  what: string,
  word: string,
  known: readonly string[],
  show: (word: string) => string = (each) => `'${each}'`,
) {
  const meant = nearest(word, known)
  const hint =
    meant === undefined ? `The known ones are ${known.map(show).join(', ')}.` : `Did you mean ${show(meant)}?`
  return new ConfigError(`Unknown ${what}. ${hint}`)
}
