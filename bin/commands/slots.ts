// `flakeforge slots`: the slots on a store and their holders. ../with-addon/slots.ts lists them.

import type { CommandFile } from '../parts/command.ts'
import { GROUP } from '../parts/options.ts'

export default {
  summary: 'list the slots of join() and their holders',
  operands: '[DIR|URL …]',
  about: `Lists the slots that were ever held: the holder and since when, when the last ID was made with the slot, and until when the
holder may make IDs without asking the store again. Listing changes nothing.

DIR, the absolute path of a folder, or URL is the store (default $FLAKEFORGE_STORE, else join()'s default folder). Three or five URLs
are one store, and a second table shows how each server takes part. Without --group all groups are listed; on Redis, which cannot
list them, the group 'default'. A group that does not exist is an error; an empty one is not.`,
  options: { group: { ...GROUP.group, about: 'only this group' } },
  completes: ['store'],
  examples: [
    ['flakeforge slots', 'all groups of your own folder'],
    ['flakeforge slots redis://localhost --group shop --json', 'a JSON object for each slot'],
  ],
  run: async (given) => (await import('../with-addon/slots.ts')).run(given),
} satisfies CommandFile
