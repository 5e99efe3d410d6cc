// `flakeforge destroy`: ends a group for all its members. It must never do so by accident.

import { existsSync } from 'node:fs'
import { printable } from '../../lib/base/printable.ts'
import { readName } from '../../lib/lease/common-options.ts'
import type { CommandFile, Given } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { YES } from '../parts/options.ts'
import { print } from '../parts/output.ts'
import { type AnyStore, noGroup, storeFirst, withPresentStore } from '../parts/stores.ts'

const ON_A_SERVER = ' For the next 65 s or so, a new group of this name grants no slots.'

/**
 * A misspelt name must not look like success. On a server, a group that never existed looks like one that the server
 * has lost, and the members of that one have to stop; in a folder it does not.
 */
async function end(store: AnyStore, group: string) {
  if (store.folderOf !== undefined && !existsSync(store.folderOf(group))) throw await noGroup(store, group)
  return store.destroy(group)
}

async function run({ values, operands }: Given) {
  const [name, [group, ...more]] = storeFirst(operands, (word) => `flakeforge destroy STORE ${word}`)
  if (group === undefined || more.length > 0)
    throw usageError('destroy takes DIR or URL, and GROUP. Without DIR and URL, FLAKEFORGE_STORE must be set.')
  readName('group', group)
  if (!values.yes) {
    throw usageError(`This stops every member of group '${group}' for good. If that is what you want, add --yes.`)
  }
  const next = await withPresentStore(name, async (store) => {
    await end(store, group)
    return store.folder === undefined ? ON_A_SERVER : ''
  })
  await print(
    values.json ? `${JSON.stringify({ group, destroyed: true })}\n` : `Group '${printable(group)}' has ended.${next}\n`,
  )
}

export default {
  summary: 'end a group of slots for all its members',
  operands: '[DIR|URL] GROUP --yes',
  about: `Ends a group: every member stops for good at its next renewal. A group of the same name that is made later begins
above the last ID of this one. On a server it grants no slots for 60 s plus the skew of this one (if this one was durable, for
its ttl plus its skew). Nothing happens without --yes.

Without URL and DIR, the absolute path of a folder, it is a group of the store that $FLAKEFORGE_STORE names.`,
  options: YES,
  completes: ['store'],
  examples: [['flakeforge destroy redis://localhost shop --yes', "end the group 'shop' on this Redis"]],
  run,
} satisfies CommandFile
