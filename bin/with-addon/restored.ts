// Reports to a store that older records were put back: for the given names, or for all.

import { printable } from '../../lib/base/printable.ts'
import { readName } from '../../lib/lease/common-options.ts'
import { tell } from '../../lib/lease/restored.ts'
import type { SlotStore } from '../../lib/stores/store.ts'
import type { Given } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { print } from '../parts/output.ts'
import { misspelt, placeOf, storeFirst, withPresentStore } from './stores.ts'

const WHAT_FOLLOWS = {
  group: 'grants no slots to new members for about the next 65 s',
  name: 'grants no blocks until skipTo() is called',
}

/** The given name; undefined for all. */
function namedBy({ group, segment }: Given['values']) {
  if (group !== undefined && segment !== undefined) throw usageError('Use --group or --segment, not both.')
  if (group !== undefined) return { group: readName('group', group) }
  return segment === undefined ? undefined : { name: readName('segment', segment) }
}

const textOf = (kept: { group: string } | { name: string }) =>
  'group' in kept
    ? `Group '${printable(kept.group)}' ${WHAT_FOLLOWS.group}.\n`
    : `Segment counter '${printable(kept.name)}' ${WHAT_FOLLOWS.name}.\n`

const unlisted = () =>
  usageError('This server cannot list its groups and counters. Name each with --group or --segment.')

export async function run({ values, operands }: Given) {
  const [name, more] = storeFirst(operands, (word) => `flakeforge restored STORE --group ${word}`)
  if ((name ?? process.env.FLAKEFORGE_STORE ?? '') === '' || more.length > 0)
    throw usageError(
      `restored takes one URL. Name a group with --group. Without URL, FLAKEFORGE_STORE must be set.${misspelt()}`,
    )
  const named = namedBy(values)
  const [told, place] = await withPresentStore(name, async (store) => {
    const slots = store as unknown as SlotStore
    return [await tell(slots, named, unlisted), placeOf(store)] as const
  })
  const none = values.json || told.length > 0 ? '' : `There are no groups and no counters ${printable(place)}.\n`
  await print(told.map((kept) => (values.json ? `${JSON.stringify(kept)}\n` : textOf(kept))).join('') + none)
}
