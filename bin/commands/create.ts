// `flakeforge create`: creates a group that is known to be new. ../with-addon/create.ts does it.

import type { CommandFile } from '../parts/command.ts'
import { NODE_OFFSET, OF_GROUP, OF_LAYOUT } from '../parts/options.ts'

export default {
  summary: 'create a new group of slots, without the wait of join()',
  operands: '[DIR|URL …] [GROUP]',
  about: `Creates a group (default 'default') that you know to be new. Without this command, the first members on a server wait 65 s.
The command itself waits until the group grants slots: 1 s plus --skew, which is 6 s by default, or up to 65 s if a group of
this name was just destroyed. If the group already exists, the command changes nothing and says so.

URL is the address of the store. DIR is the absolute path of a folder, which is created if it is missing. Three or
five URLs are one store. The default is $FLAKEFORGE_STORE.

Run the command once, by hand, and only if no process used this group in the last minute. Never run it if the server may
have lost the group: its members may still be generating IDs.

--durable is for a server that never loses acknowledged writes. Servers whose settings may lose writes are refused, such as
a Redis with replicas or without appendfsync always. With --durable, no member waits for a new group, and you do not need
this command.

Pass the options that the members pass to FlakeId.join(): all members of a group must agree on them.`,
  options: { ...OF_GROUP, ...OF_LAYOUT, ...NODE_OFFSET },
  nodeFields: true,
  completes: ['store'],
  examples: [
    ['flakeforge create redis://localhost shop', "for members that call join('redis://localhost', { group: 'shop' })"],
    ['flakeforge create postgres://localhost/app web --layout hazelcast --slots 64', 'for members with these options'],
  ],
  run: async (given) => (await import('../with-addon/create.ts')).run(given),
} satisfies CommandFile
