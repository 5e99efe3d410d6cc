// Creates a group that is known to be new, and waits until it grants slots. Without it, the first members wait until the
// members of a lost group would have stopped.

import { printable } from '../../lib/base/printable.ts'
import { createGroup } from '../../lib/entries/index.ts'
import type { Store } from '../../lib/entries/lease.ts'
import { readLayout } from '../parts/arguments.ts'
import type { Given } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { factsOf } from '../parts/layout-facts.ts'
import { print, say, sayWarnings } from '../parts/output.ts'
import { misspelt, storeFirst, withStore } from './stores.ts'

/** The output for people. */
function textOf(name: string, { created, isFolder }: { created: boolean; isFolder: boolean }) {
  const group = printable(name)
  if (!created) return `Group '${group}' already exists with the same options. Nothing was changed.`
  return `Created group '${group}'${isFolder ? '' : ' and waited until it grants slots'}.`
}

export async function run({ values, operands }: Given) {
  const layout = readLayout(values, 'flake')
  const [name, [group = 'default', ...more]] = storeFirst(operands, (word) => `flakeforge create STORE ${word}`)
  if ((name ?? process.env.FLAKEFORGE_STORE ?? '') === '' || more.length > 0)
    throw usageError(
      `create takes DIR or URL, and perhaps GROUP. Without DIR and URL, FLAKEFORGE_STORE must be set.${misspelt()}`,
    )
  const { slots, backfill, ttl: ttlMs, skew: skewMs, durable, 'node-offset': nodeOffset } = values
  const nodes = Object.fromEntries(factsOf(layout).nodeNames.map((field) => [field, values[field]]))
  const options = { ...nodes, layout, group, slots, backfill, ttlMs, skewMs, durable, nodeOffset }
  sayWarnings()
  if (process.stderr.isTTY && name !== undefined && !durable)
    say(`Creating group '${group}' takes 1 s plus --skew on a server: the clocks may differ by that much.`)
  const made = await withStore(name, async (store) => ({
    created: await createGroup(store as Store, options),
    isFolder: store.folder !== undefined,
  }))
  const text = values.json ? JSON.stringify({ group, created: made.created }) : textOf(group, made)
  await print(`${text}\n`)
}
