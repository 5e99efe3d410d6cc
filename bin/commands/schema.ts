// `flakeforge schema`: the tables of the PostgreSQL or MySQL store, for migrations.

import type { CommandFile } from '../parts/command.ts'

export default {
  summary: 'print the tables of the PostgreSQL or MySQL store as SQL',
  operands: '[postgres|mysql|URL]',
  about: `Prints the SQL that creates the table of the PostgreSQL store (12 or newer) in the schema public, or in the schema of an
address with ?schema=; or the tables of the MySQL and MariaDB store in the current database. The store creates them itself on
first use if its role has the rights; print them if you use migrations, or if that role may not create tables. The command connects to no server.`,
  options: {},
  completes: [() => ['postgres', 'mysql']],
  examples: [
    ['flakeforge schema | psql postgres://owner@localhost/app', 'create the tables'],
    [
      "flakeforge schema 'postgres://localhost/app?schema=ids' | psql postgres://owner@localhost/app",
      'in your own schema',
    ],
    ['flakeforge schema mysql | mariadb app', 'create those of MySQL or MariaDB'],
    ['flakeforge schema > migrations/0042_flakeforge.sql', 'keep them as a migration'],
  ],
  run: async (given) => (await import('../with-addon.ts')).schema(given),
} satisfies CommandFile
