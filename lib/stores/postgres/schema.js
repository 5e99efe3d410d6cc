'use strict'

module.exports = /* sql */ `
-- The tables of flakeforge's PostgreSQL store (12 or later), for those who run migrations; the store itself makes
-- them on first use where it may. They stand in the current schema. Who uses them needs SELECT, INSERT, UPDATE and
-- DELETE.
-- Nothing here may ever expire or be cleaned up: a forgotten hi is a window that is granted twice.
--
-- All times are Unix ms of the server's clock; both ends of a window belong to it.

CREATE TABLE IF NOT EXISTS flakeforge_group (
  name text COLLATE "C" PRIMARY KEY,
  fingerprint text NOT NULL,
  slots integer NOT NULL,
  ttl_ms bigint NOT NULL,
  skew_ms bigint NOT NULL,
  incarnation text NOT NULL,           -- the server and timeline that wrote last: another may have lost grants
  quiet_until bigint NOT NULL,         -- nothing is granted before; 0: at once
  destroyed boolean NOT NULL DEFAULT false,
  floor bigint NOT NULL DEFAULT -1,    -- the highest hi of the groups of this name that were destroyed
  used integer NOT NULL DEFAULT 0      -- slots 0 to used - 1 have a row: where the last has none, rows were lost
) WITH (fillfactor = 50);              -- room on the page, so that an update need not touch the index

CREATE TABLE IF NOT EXISTS flakeforge_slot (
  group_name text COLLATE "C" NOT NULL,
  slot integer NOT NULL,
  owner text COLLATE "C",              -- NULL: released
  host text COLLATE "C" NOT NULL,
  lo bigint NOT NULL,
  hi bigint NOT NULL,
  PRIMARY KEY (group_name, slot)
) WITH (
  fillfactor = 50,
  -- Every renewal leaves a dead row behind at the end where free slots are looked for: sweep early.
  autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.1
);

-- Groups come and go, and ends move all the time. What was true of them when statistics were gathered would lead the
-- planner to read a whole group; without statistics it takes the index that fits, always.
ALTER TABLE flakeforge_slot
  ALTER COLUMN group_name SET STATISTICS 0, ALTER COLUMN slot SET STATISTICS 0, ALTER COLUMN owner SET STATISTICS 0,
  ALTER COLUMN host SET STATISTICS 0, ALTER COLUMN lo SET STATISTICS 0, ALTER COLUMN hi SET STATISTICS 0;

-- One index for each way to look for a slot, so that a grant takes as long with 65 536 slots as with ten.
CREATE INDEX IF NOT EXISTS flakeforge_slot_end ON flakeforge_slot (group_name, hi, slot);
CREATE INDEX IF NOT EXISTS flakeforge_slot_host ON flakeforge_slot (group_name, host, hi, slot);
CREATE INDEX IF NOT EXISTS flakeforge_slot_owner ON flakeforge_slot (group_name, owner) WHERE owner IS NOT NULL;

CREATE TABLE IF NOT EXISTS flakeforge_counter (
  name text COLLATE "C" PRIMARY KEY,
  value numeric(20) NOT NULL,          -- 0 to 2^64 - 1
  incarnation text NOT NULL,
  lineage text NOT NULL,               -- another one where the counter was lost and made anew
  settled boolean NOT NULL             -- somebody has said where to go on: whoever knows another lineage may go on
) WITH (fillfactor = 50);
`
