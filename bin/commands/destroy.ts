// `flakeforge destroy`: destroys a group for all its members. ../with-addon/destroy.ts does it.

import type { CommandFile } from '../parts/command.ts'
import { YES } from '../parts/options.ts'

export default {
  summary: 'destroy a group of slots for all its members',
  operands: '[DIR|URL …] GROUP --yes',
  about: `Destroys a group: every member stops permanently at its next renewal. A group of the same name that is created later begins
above the last ID of this one. On a server it grants no slots for 60 s plus the skew of this one (if this one was durable, for
its ttl plus its skew). Nothing happens without --yes.

DIR is the absolute path of a folder. Three or five URLs are one store. Without URL and DIR, the store is the one in $FLAKEFORGE_STORE.`,
  options: YES,
  completes: ['store'],
  examples: [['flakeforge destroy redis://localhost shop --yes', "destroy the group 'shop' on this Redis"]],
  run: async (given) => (await import('../with-addon/destroy.ts')).run(given),
} satisfies CommandFile
