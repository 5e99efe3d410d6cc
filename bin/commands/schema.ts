// `flakeforge schema`: the tables of the PostgreSQL or MySQL store, or functions that generate and read IDs, for migrations.

import type { CommandFile } from '../parts/command.ts'
import { OF_SCHEMA } from '../parts/options.ts'

export default {
  summary: 'print SQL: the tables of the store, or functions that generate and read IDs',
  operands: '[postgres|mysql|URL]',
  about: `Prints the SQL that creates the tables of a store. For PostgreSQL 12 or newer, they are in the schema public, or in the schema that the address names with ?schema=; for MySQL and MariaDB, in the current database. The store creates its tables on first use if its role has the rights. Print the SQL if you use migrations, or if that role may not create tables. The command connects to no server.

--grant names the roles that get the rights of members or callers. The SQL for PostgreSQL is one statement. It fails if an
object of that name belongs to another role. Name the owner of a schema in the address, with ?owner=.

With --function, the command prints a function that generates IDs in the database, for rows that psql, triggers or other services
insert: id bigint DEFAULT flake_id(). On MariaDB and MySQL, a BEFORE INSERT trigger calls the function. Its IDs never repeat, whatever the server's clock does. No process may use the function's node number: for example, give your group --slots 1023, and the function --node 1023.

With --times flake, the command prints three functions: flake_time(id) returns the time of an ID; flake_min(time) and flake_max(time) return the first and the last ID of a time, as in WHERE id >= flake_min(now() - interval '1 day'). PostgreSQL allows these functions in indexes, generated columns and the bounds of partitions. On MariaDB and MySQL, times are in UTC. Pass the --layout, --epoch, --mode and --id-offset of your IDs.`,
  options: OF_SCHEMA,
  completes: [() => ['postgres', 'mysql']],
  examples: [
    ['flakeforge schema | psql postgres://owner@localhost/app', 'create the tables'],
    ["flakeforge schema 'postgres://localhost/app?schema=ids' | psql app", 'create them in the schema ids'],
    ['flakeforge schema mysql | mariadb app', 'create the tables of MySQL or MariaDB'],
    [
      'flakeforge schema --function flake_id --node 1023 --grant app | psql app',
      'IDs by DEFAULT flake_id(), for the role app',
    ],
    ['flakeforge schema mysql --function flake_id --node 1023 | mariadb app', 'the function for MariaDB or MySQL'],
    ['flakeforge schema --times flake --epoch 2020-01-01 | psql app', 'the time of an ID, and the IDs of a time'],
    ['flakeforge schema > migrations/0042_flakeforge.sql', 'write a migration'],
  ],
  run: async (given) => (await import('../schema/print-schema.ts')).run(given),
} satisfies CommandFile
