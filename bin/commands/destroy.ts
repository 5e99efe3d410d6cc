// `flakeforge destroy`: destroys a group for all its members. ../with-addon/destroy.ts does it.

import type { CommandFile } from '../parts/command.ts'
import { YES } from '../parts/options.ts'

export default {
  summary: 'end a group of slots for all its members',
  operands: '[DIR|URL] GROUP --yes',
  about: `Ends a group: every member stops for good at its next renewal. A group of the same name that is made later begins
above the last ID of this one. On a server it grants no slots for 60 s plus the skew of this one (if this one was durable, for
its ttl plus its skew). Nothing happens without --yes.

Without URL and DIR, the absolute path of a folder, it is a group of the store that $FLAKEFORGE_STORE names.`,
  options: YES,
  completes: ['store'],
  examples: [['flakeforge destroy redis://localhost shop --yes', "end the group 'shop' on this Redis"]],
  run: async (given) => (await import('../with-addon.ts')).destroy(given),
} satisfies CommandFile
