// `flakeforge counters`: the counters of SegmentId on a store. ../with-addon/counters.ts lists them.

import type { CommandFile } from '../parts/command.ts'
import { SEGMENT } from '../parts/options.ts'

export default {
  summary: 'list the counters of SegmentId',
  operands: '[DIR|URL]',
  about: `Lists the counters of SegmentId: the first number that no member has taken yet, and whether blocks may have been lost, in which case the counter grants none until skipTo() is called. Listing changes nothing.

The store is DIR, the absolute path of a folder, or URL (default: $FLAKEFORGE_STORE, else the default folder of join()). Redis cannot list its
counters: name one with --segment.`,
  options: { segment: { ...SEGMENT.segment, about: 'only this counter' } },
  completes: ['store'],
  examples: [
    ['flakeforge counters postgres://localhost/app', 'all counters of this database'],
    ['flakeforge counters redis://localhost --segment invoices --json', "the counter 'invoices' as JSON"],
  ],
  run: async (given) => (await import('../with-addon/counters.ts')).run(given),
} satisfies CommandFile
