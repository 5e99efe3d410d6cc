// `flakeforge restored`: reports to a store that older records were put back. ../with-addon/restored.ts does it.

import type { CommandFile } from '../parts/command.ts'
import { GROUP, SEGMENT } from '../parts/options.ts'

export default {
  summary: 'report that a backup was restored on a server',
  operands: '[URL …]',
  about: `Reports that older records were restored: from a backup, a snapshot, or a copy of the data folder. The server may show no sign of this, and then only this command prevents repeated IDs. Run the command when the server is up, before members can reach the server. A group
then grants no slots for 60 s plus its skew. A counter grants no blocks until you call skipTo() with a number above every ID.

The default URL is $FLAKEFORGE_STORE; three or five URLs are one store. Without --group and --segment, the report covers all groups and counters that the server
knows. Name those that were created after the backup was taken. Redis cannot list groups and counters: name each one.`,
  options: {
    group: { ...GROUP.group, about: 'only this group' },
    segment: { ...SEGMENT.segment, about: 'only this counter of SegmentId' },
  },
  completes: ['store'],
  examples: [
    ['flakeforge restored postgres://localhost/app', 'all groups and counters of this database'],
    ['flakeforge restored redis://localhost --segment invoices', "the counter 'invoices'"],
  ],
  run: async (given) => (await import('../with-addon/restored.ts')).run(given),
} satisfies CommandFile
