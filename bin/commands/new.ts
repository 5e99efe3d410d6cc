// `flakeforge new`: generates IDs. ../with-addon/new.ts does it.

import type { CommandFile } from '../parts/command.ts'
import { GROUP, NODE_OFFSET, OF_GROUP, OF_LAYOUT, OF_NEW } from '../parts/options.ts'

const { n, as, id, shared, store, wait } = OF_NEW

export default {
  summary: 'generate N IDs, of any layout, in any form',
  operands: '[N]',
  about: `Generates N IDs (default 3; 1 with --as or --json) and shows each as hex, as a decimal number and as bits, with its fields.

Without a node number the command takes a free slot for as long as it runs, as FlakeId.join() does: from --store, else from
FLAKEFORGE_STORE, else from your own folder. So concurrent commands and applications make no equal IDs. With --id, a node
field, or a variable such as FLAKEFORGE_ID it uses that node number; make sure that no other process does.`,
  options: {
    n,
    as,
    ...OF_LAYOUT,
    id,
    ...NODE_OFFSET,
    store,
    ...GROUP,
    ...OF_GROUP,
    wait,
    shared,
  },
  nodeFields: true,
  examples: [
    ['flakeforge new 5 --as dec', 'five IDs as decimal numbers'],
    ['flakeforge new --layout hazelcast --node 7', "IDs like those of Hazelcast's node 7"],
    ['flakeforge new 1000000 --as hex --store redis://localhost', 'with a slot of this server'],
    [
      'flakeforge new --layout \'{"fields":[["timestamp",41],["shard",13],["counter",10]]}\' --shard 5',
      'with fields of your own',
    ],
  ],
  run: async (given) => (await import('../with-addon/new.ts')).run(given),
} satisfies CommandFile
