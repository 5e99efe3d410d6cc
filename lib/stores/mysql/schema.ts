// The tables of the MySQL store. No column folds case or pads, and no row expires.

import type { Tables } from './place.ts'

/** A longer record is refused: a server whose mode is not strict would cut off the rest. */
export const MOST_BYTES = 8192

/** A number that a float can hold, but that no dump shows: a dump writes 6 digits. */
export const UNDUMPED = 16777213

export const SCHEMA = /* sql */ `
-- The tables of flakeforge's MySQL and MariaDB store, for migrations; the store itself creates them on first use if it
-- has the rights. They are created in the current database, which must be the one of the store's URL or option.
-- Members need SELECT, INSERT and UPDATE on them, and on MySQL also SELECT on
-- performance_schema.replication_connection_status and performance_schema.replication_applier_status.
-- No row may ever expire or be cleaned up: a window whose end is lost can be granted twice.

-- All texts are bytes: a text column would treat 'G ' as 'g'. The table has its own row with a random text, and with
-- ${UNDUMPED} as undumped, which reveals a restored dump: it has 16777200 there.
CREATE TABLE IF NOT EXISTS flakeforge_record (
  group_name varbinary(512) NOT NULL,
  name varbinary(64) NOT NULL,
  value varbinary(${MOST_BYTES}) NOT NULL,
  undumped float,
  PRIMARY KEY (group_name, name)
) ENGINE = InnoDB;

-- A random text for each run of a server: a restart empties this table. Each server has its own row, so that rows which
-- replication brings from another server do not collide with it.
CREATE TABLE IF NOT EXISTS flakeforge_process (
  server varbinary(512) NOT NULL PRIMARY KEY,
  nonce varbinary(64) NOT NULL
) ENGINE = MEMORY;
`

/** The statements that create the tables of a store in its database. */
export const statementsFor = ({ record, process }: Tables) =>
  SCHEMA.split(/;\n/)
    .filter((text) => text.includes('CREATE'))
    .map((text) => text.replace('EXISTS flakeforge_record', () => `EXISTS ${record}`))
    .map((text) => text.replace('EXISTS flakeforge_process', () => `EXISTS ${process}`))
