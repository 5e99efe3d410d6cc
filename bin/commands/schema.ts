// `flakeforge schema`: the tables of the PostgreSQL or MySQL store, for migrations.

import type { CommandFile } from '../parts/command.ts'

export default {
  summary: 'print the tables of the PostgreSQL or MySQL store as SQL',
  operands: '[postgres|mysql|URL]',
  about: `Prints the SQL that makes the table of the PostgreSQL store (12 or newer) in the schema public, or in the one that an
address names with ?schema=, or those of the MySQL and MariaDB store in the current database. The store makes them itself at first use where its role may; print them if you use
migrations, or if that role may not create tables. Nothing is connected to.`,
  options: {},
  completes: [() => ['postgres', 'mysql']],
  examples: [
    ['flakeforge schema | psql postgres://owner@localhost/app', 'make the tables'],
    [
      "flakeforge schema 'postgres://localhost/app?schema=ids' | psql postgres://owner@localhost/app",
      'in a schema of yours',
    ],
    ['flakeforge schema mysql | mariadb app', 'make those of MySQL or MariaDB'],
    ['flakeforge schema > migrations/0042_flakeforge.sql', 'keep them as a migration'],
  ],
  run: async (given) => (await import('../with-addon.ts')).schema(given),
} satisfies CommandFile
