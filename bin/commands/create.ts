// `flakeforge create`: makes a group that is known to be new, once, and waits until it grants slots. Without it, the first
// members wait until the members of a lost group would have stopped.

import { printable } from '../../lib/base/printable.ts'
import { createGroup } from '../../lib/entries/index.ts'
import type { Store } from '../../lib/entries/lease.ts'
import { readLayout } from '../parts/arguments.ts'
import type { CommandFile, Given } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { factsOf } from '../parts/layout-facts.ts'
import { NODE_OFFSET, OF_GROUP, OF_LAYOUT } from '../parts/options.ts'
import { print, sayWarnings } from '../parts/output.ts'
import { storeFirst, withStore } from '../parts/stores.ts'

/** What a person reads. */
function textOf(name: string, { created, isFolder }: { created: boolean; isFolder: boolean }) {
  const group = printable(name)
  if (!created) return `Group '${group}' exists already, with the same options. Nothing was changed.`
  return `Made group '${group}'${isFolder ? '' : ', and waited until it grants slots'}.`
}

async function run({ values, operands }: Given) {
  const layout = readLayout(values, 'flake')
  const [name, [group = 'default', ...more]] = storeFirst(operands, (word) => `flakeforge create STORE ${word}`)
  if ((name ?? process.env.FLAKEFORGE_STORE ?? '') === '' || more.length > 0)
    throw usageError('create takes DIR or URL, and perhaps GROUP. Without DIR and URL, FLAKEFORGE_STORE must be set.')
  const { slots, ttl: ttlMs, skew: skewMs, durable, 'node-offset': nodeOffset } = values
  const nodes = Object.fromEntries(factsOf(layout).nodeNames.map((field) => [field, values[field]]))
  const options = { ...nodes, layout, group, slots, ttlMs, skewMs, durable, nodeOffset }
  sayWarnings()
  const made = await withStore(name, async (store) => ({
    created: await createGroup(store as Store, options),
    isFolder: store.folder !== undefined,
  }))
  const text = values.json ? JSON.stringify({ group, created: made.created }) : textOf(group, made)
  await print(`${text}\n`)
}

export default {
  summary: 'make a group of slots that is known to be new',
  operands: '[DIR|URL] [GROUP]',
  about: `Makes a group (default 'default') that is known to be new, so that its first members on a server need not wait for
65 s. The command itself waits until the group grants slots: 1 s plus --skew, or up to 65 s if a group of this name was
destroyed a moment ago. If the group exists, this changes nothing, and says so.

URL is the address of the store, and DIR the absolute path of a folder, which is made where it is missing. Without them it is
the store that $FLAKEFORGE_STORE names.

Do this once, by hand. It is right only if no process used this group in the last minute. Never do it where the server may
have lost the group: its members may still be making IDs.

--durable is for a server that never loses acknowledged writes. A Redis with replicas or without appendfsync always, and
other servers that are set up to lose writes, are refused. Then nobody waits for a new group, and this command is not needed.

Give the options that the members give to FlakeId.join(): all members of a group must agree on them.`,
  options: { ...OF_GROUP, ...OF_LAYOUT, ...NODE_OFFSET },
  nodeFields: true,
  completes: ['store'],
  examples: [
    ['flakeforge create redis://localhost shop', "for members that call join('redis://localhost', { group: 'shop' })"],
    ['flakeforge create postgres://localhost/app web --layout hazelcast --slots 64', 'for members with these options'],
  ],
  run,
} satisfies CommandFile
