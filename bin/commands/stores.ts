// `flakeforge stores`: replaces a server of a list, or adds two. ../with-addon/change-list.ts does it.

import type { CommandFile } from '../parts/command.ts'
import { GROUP } from '../parts/options.ts'

export default {
  summary: 'replace a server of several that are one store, or add two to three',
  operands: 'replace OLD NEW [URL …] | add NEW NEW [URL …]',
  about: `Changes the list of servers of a group, while its members run. 'replace' takes OLD out of the list, even if its machine is gone
for good, and puts NEW in; 'add' makes three servers five. The command returns when the new servers have a vote.

The URLs are the list as the members have it now. The default is $FLAKEFORGE_STORE. Without --group, the lists of all groups and
counters are changed. Redis cannot list them: there, the default is the group 'default', so run the command for each.

All other servers in the list must be running. If too many cannot be reached, nothing is changed. Afterwards, restart the members
with the new list, one after another. Until then, they use the servers that are in both lists, and warn.

If the command was interrupted, run it again.`,
  options: { group: { ...GROUP.group, about: 'only this group or counter' } },
  completes: [() => ['replace', 'add']],
  examples: [
    ['flakeforge stores replace redis://c redis://d redis://a redis://b redis://c', 'the list is then a, b and d'],
    ['flakeforge stores add redis://d redis://e --group shop', 'the three of $FLAKEFORGE_STORE become five'],
  ],
  run: async (given) => (await import('../with-addon/change-list.ts')).run(given),
} satisfies CommandFile
