// What is wrong with the configuration: one sentence for whoever starts the server, which then ends with status 2.

import { nearest } from '../../../../lib/base/nearest.ts'

export class ConfigError extends Error {}

/**
 * A word that is not known, with the one that may be meant.
 * @param what such as "option '--prot'"
 */
export function unknown(
  what: string,
  word: string,
  known: readonly string[],
  show: (word: string) => string = (each) => `'${each}'`,
) {
  const meant = nearest(word, known)
  const hint = meant === undefined ? `There are ${known.map(show).join(', ')}.` : `Did you mean ${show(meant)}?`
  return new ConfigError(`Unknown ${what}. ${hint}`)
}
