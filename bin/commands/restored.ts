// `flakeforge restored`: reports to a store that older records were put back. ../with-addon/restored.ts does it.

import type { CommandFile } from '../parts/command.ts'
import { GROUP } from '../parts/options.ts'

export default {
  summary: 'say that a backup was put back on a server',
  operands: '[URL]',
  about: `Says that older records were put back: a backup, a snapshot, a copy of the data's folder. The server may look the same as
before, and then only this keeps IDs from being made again. Run it when the server is up, before members can reach it. A group
then grants no slots for 60 s plus its skew. A counter stands still until somebody calls skipTo() with a number above every ID.

Without URL it is the store that $FLAKEFORGE_STORE names. Without --group and --segment it is said of all groups and counters that the server knows. Name those that were made after the
backup was taken. Redis cannot list any: name each.`,
  options: {
    group: { ...GROUP.group, about: 'only this group' },
    segment: { value: 'NAME', about: 'only this counter of SegmentId' },
  },
  completes: ['store'],
  examples: [
    ['flakeforge restored postgres://localhost/app', 'all groups and counters of this database'],
    ['flakeforge restored redis://localhost --segment invoices', "the counter 'invoices'"],
  ],
  run: async (given) => (await import('../with-addon.ts')).restored(given),
} satisfies CommandFile
