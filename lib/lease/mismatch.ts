// Explains to a member why its group refuses it: which layouts the two sides have, and how to change a group without equal IDs.
// A second group beside the first would have the same node numbers, so the way is through the end of the first.

import { explained } from '../base/errors.ts'
import { factsOf, layouts } from '../codec/layout.ts'
import { nativeLayout } from '../native/hot.ts'
import { howToCreate, howToDestroy } from './how-to-create.ts'
import type { JoinSettings } from './join-options.ts'

/** The epoch, the bits of a layout, and what follows. */
const PARTS = /^epoch (-?\d+), (tick .*?, (?:decimal|no counter|.*?counter \d+ bits at \d+))(.*)$/

const partsOf = (side: string) => (PARTS.exec(side) ?? ['', '', '', side]).slice(1)

/** What would give different times the same IDs if it changed. */
const MEANINGS = /\b(?:layout|epoch|tick|timestamp|counter|idOffset)\b/

/** Replaces the bits in the description of a side by the name of the layout that also has this epoch, or else by all layouts with these bits. */
function withName(side: string) {
  const [epoch, bits, rest] = partsOf(side)
  const known = Object.keys(layouts).map((name) => ({ name, parts: partsOf(nativeLayout(factsOf(name)).fingerprint) }))
  const same = known.filter(({ parts }) => parts[1] === bits)
  const exact = same.find(({ parts }) => parts[0] === epoch)
  if (exact !== undefined) return `layout '${exact.name}'${rest}`
  if (same.length === 0) return undefined
  return `layout ${same.map(({ name }) => `'${name}'`).join(' or ')} with epoch ${epoch}${rest}`
}

/** Names of layouts in place of bits, if both have one and not only the epoch differs, or both epochs have a name. */
function named(sides: string[]) {
  const [theirs, ours] = sides.map(withName)
  if (theirs === undefined || ours === undefined) return sides
  const isSame = partsOf(sides[0])[1] === partsOf(sides[1])[1]
  return isSame && [theirs, ours].some((side) => side.includes(' with epoch ')) ? sides : [theirs, ours]
}

/**
 * The error of join() or createGroup() with the way out, if the group has other options than this process.
 * @param given the store as it was passed
 */
export function withWayOut(error: unknown, given: unknown, options: JoinSettings) {
  const wayOut = (differs: string) => {
    const change =
      `To change them for all members, end the group, which stops its members for good: \`${howToDestroy(given, options)}\`. ` +
      `Then create it again, and restart the members with the new options: \`${howToCreate(given, options)}\`.`
    return MEANINGS.test(differs)
      ? `${change} IDs of another layout or epoch may equal earlier ones: keep them in another table.`
      : change
  }
  return explained(error, `Group '${options.group}'`, named, wayOut)
}
