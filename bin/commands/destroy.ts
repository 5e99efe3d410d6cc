// `flakeforge destroy`: destroys a group for all its members. ../with-addon/destroy.ts does it.

import type { CommandFile } from '../parts/command.ts'
import { YES } from '../parts/options.ts'

export default {
  summary: 'destroy a group of slots for all its members',
  operands: '[DIR|URL] GROUP --yes',
  about: `Destroys a group. Every member stops permanently at its next renewal. A later group of the same name starts above the last ID of
this one. On a server, it grants no slots for 60 s plus the skew of the destroyed group, or for its ttl plus its skew if it was
durable. Nothing happens without --yes.

DIR is the absolute path of a folder. The default store is $FLAKEFORGE_STORE.`,
  options: YES,
  completes: ['store'],
  examples: [['flakeforge destroy redis://localhost shop --yes', "destroy the group 'shop' on this Redis"]],
  run: async (given) => (await import('../with-addon/destroy.ts')).run(given),
} satisfies CommandFile
