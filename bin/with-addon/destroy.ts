// Destroys a group or a counter for all its members, if the user has passed --yes.

import { existsSync } from 'node:fs'
import { printable } from '../../lib/base/printable.ts'
import { readName } from '../../lib/lease/common-options.ts'
import type { Given } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { print } from '../parts/output.ts'
import { type AnyStore, misspelt, noCounter, noGroup, storeFirst, withPresentStore } from './stores.ts'

const ON_A_SERVER = ' For about the next 65 s, a new group of this name grants no slots.'

/**
 * A misspelt name must not look like success. On a server, a group that never existed looks like one that the server has
 * lost, and whose members have to stop; in a folder it does not.
 */
async function end(store: AnyStore, group: string) {
  if (store.folderOf !== undefined && !existsSync(store.folderOf(group))) throw await noGroup(store, group)
  return store.destroy(group)
}

async function endCounter(given: string | undefined, { segment, yes, json }: Given['values']) {
  const counter = readName('segment', segment)
  if (!yes) {
    throw usageError(
      `This stops every member of segment counter '${counter}' at its next block, and the next counter of this name hands out the same numbers. To confirm, add --yes.`,
    )
  }
  await withPresentStore(given, async (store) => {
    if ((await store.counter(counter)) === undefined) throw await noCounter(store, counter)
    await store.destroyCounter(counter)
  })
  const text = `Destroyed segment counter '${printable(counter)}'.`
  await print(json ? `${JSON.stringify({ counter, destroyed: true })}\n` : `${text}\n`)
}

export async function run({ values, operands }: Given) {
  if (values.segment !== undefined) {
    const [given, more] = storeFirst(operands, (word) => `flakeforge destroy STORE --segment ${word}`)
    if (more.length > 0) throw usageError('Use GROUP or --segment, not both.')
    return endCounter(given, values)
  }
  const [name, [group, ...more]] = storeFirst(operands, (word) => `flakeforge destroy STORE ${word}`)
  if (group === undefined || more.length > 0)
    throw usageError(
      `destroy takes DIR or URL, and GROUP. Without DIR and URL, FLAKEFORGE_STORE must be set.${misspelt()}`,
    )
  readName('group', group)
  if (!values.yes) {
    throw usageError(`This permanently stops every member of group '${group}'. To confirm, add --yes.`)
  }
  const next = await withPresentStore(name, async (store) => {
    await end(store, group)
    return store.folder === undefined ? ON_A_SERVER : ''
  })
  await print(
    values.json ? `${JSON.stringify({ group, destroyed: true })}\n` : `Destroyed group '${printable(group)}'.${next}\n`,
  )
}
