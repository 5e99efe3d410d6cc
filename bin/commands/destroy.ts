// `flakeforge destroy`: destroys a group or a counter for all its members. ../with-addon/destroy.ts does it.

import type { CommandFile } from '../parts/command.ts'
import { SEGMENT, YES } from '../parts/options.ts'

export default {
  summary: 'destroy a group of slots, or a counter, for all its members',
  operands: '[DIR|URL …] GROUP --yes',
  about: `Destroys a group. Every member stops permanently: in a folder within 250 ms, on a server at its next renewal. A later group of
the same name starts above the last ID of this one. On a server, it grants no slots for 60 s plus the skew of the destroyed
group, or for its ttl plus its skew if it was durable. Nothing happens without --yes.

With --segment instead of GROUP, the command destroys a segment counter. Its members stop when they need another block. A new counter of that name starts from the beginning and hands out the same numbers again.

DIR is the absolute path of a folder. Three or five URLs are one store. The default store is $FLAKEFORGE_STORE.`,
  options: { ...SEGMENT, ...YES },
  completes: ['store'],
  examples: [
    ['flakeforge destroy redis://localhost shop --yes', "destroy the group 'shop' on this Redis"],
    ['flakeforge destroy redis://localhost --segment invoices --yes', "destroy the counter 'invoices'"],
  ],
  run: async (given) => (await import('../with-addon/destroy.ts')).run(given),
} satisfies CommandFile
