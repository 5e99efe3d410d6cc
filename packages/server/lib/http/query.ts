// The parameters after the question mark. An unknown one is an error: ?count=5 is meant as five IDs, not one.

import { nearest } from '../../../shared.ts'
import { Problem, shown } from './problems.ts'

/** A copy with these parameters only, each given once. */
export function readQuery(query: Record<string, unknown>, known: string[]): Record<string, string | undefined> {
  for (const [name, value] of Object.entries(query)) {
    if (!known.includes(name)) throw unknown(name, known)
    if (typeof value !== 'string') throw new Problem(400, 'ERR_FLAKE_OPTION', `${name} was given more than once.`)
  }
  return { ...query } as Record<string, string>
}

export function unknown(name: string, known: string[]) {
  const meant = nearest(name, known)
  const all = known.length === 0 ? 'This route has none.' : `This route has ${known.join(', ')}.`
  const hint = meant === undefined ? all : `Did you mean ${meant}?`
  return new Problem(400, 'ERR_FLAKE_OPTION', `Unknown parameter ${shown(name)}. ${hint}`)
}
