'use strict'
// @ts-check

// The tables of the MySQL store. They must never get a column that folds case or pads, or rows that expire.

/** A longer record is refused: a server whose mode is not strict would cut off the rest. */
const MOST_BYTES = 8192

const SCHEMA = /* sql */ `
-- The tables of flakeforge's MySQL and MariaDB store, for those who run migrations; the store itself makes them on first
-- use where it may. They are in the current database.
-- No row may ever expire or be cleaned up: a forgotten end of a window lets it be granted twice.

-- All columns hold bytes: a column of text would take 'G ' for 'g'.
CREATE TABLE IF NOT EXISTS flakeforge_record (
  group_name varbinary(512) NOT NULL,
  name varbinary(64) NOT NULL,
  value varbinary(${MOST_BYTES}) NOT NULL,
  PRIMARY KEY (group_name, name)
) ENGINE = InnoDB;

-- A random text for each run of a server: a restart empties this table. Each server has a row of its own, so that what
-- replication brings from another server never meets it.
CREATE TABLE IF NOT EXISTS flakeforge_process (
  server varbinary(512) NOT NULL PRIMARY KEY,
  nonce varbinary(64) NOT NULL
) ENGINE = MEMORY;
`

module.exports = { MOST_BYTES, SCHEMA }
