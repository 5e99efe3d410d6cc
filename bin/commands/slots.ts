// `flakeforge slots`: the slots on a store and their holders. ../with-addon/slots.ts lists them.

import type { CommandFile } from '../parts/command.ts'
import { GROUP } from '../parts/options.ts'

export default {
  summary: 'list the slots of join() and their holders',
  operands: '[DIR|URL …]',
  about: `Lists the slots that have ever been held: the holder, when it acquired the slot, when it generated its last ID, and when its window ends. Listing changes nothing.

DIR is the absolute path of a folder, and URL the address of a server. Three or five URLs are one store, and a second table shows
how each server takes part. The default is $FLAKEFORGE_STORE, else the default folder
of join(). Without --group, all groups are listed. Redis cannot list groups: there, the default is the group 'default'. A group that
does not exist is an error; an empty one is not.`,
  options: { group: { ...GROUP.group, about: 'only this group' } },
  completes: ['store'],
  examples: [
    ['flakeforge slots', 'all groups of your own folder'],
    ['flakeforge slots redis://localhost --group shop --json', 'a JSON object for each slot'],
  ],
  run: async (given) => (await import('../with-addon/slots.ts')).run(given),
} satisfies CommandFile
