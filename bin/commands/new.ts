// `flakeforge new`: generates IDs. ../with-addon/new.ts does it.

import type { CommandFile } from '../parts/command.ts'
import { GROUP, NODE_OFFSET, OF_GROUP, OF_LAYOUT, OF_NEW } from '../parts/options.ts'

const { n, as, id, shared, store, wait } = OF_NEW

export default {
  summary: 'generate N IDs, of any layout, in any form',
  operands: '[N]',
  about: `Generates N IDs (default 3; 1 with --as or --json). Shows each as hex, as a decimal number and as bits, with its fields.

Without a node number, the command holds a free slot while it runs, as FlakeId.join() does: from --store, else from
FLAKEFORGE_STORE, else from your own folder. Commands and applications that run at the same time therefore generate no
duplicates. With --id, a node field, or a variable such as FLAKEFORGE_ID, the command uses that node number. Make sure that no other process uses it.`,
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
    ['flakeforge new 1000000 --as hex --store redis://localhost', 'with a slot from a Redis server'],
    ['flakeforge new --layout \'{"fields":[["timestamp",54],["node",10]]}\' --node 5', 'a layout of your own'],
  ],
  run: async (given) => (await import('../with-addon/new.ts')).run(given),
} satisfies CommandFile
