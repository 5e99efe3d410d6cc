// The table of the PostgreSQL store. It must never get a column that folds case, or rows that expire.

export default `
-- The table of flakeforge's PostgreSQL store (12 or later), for those who run migrations; the store itself makes it on
-- first use where it may. It stands in the current schema. Who uses it needs SELECT, INSERT and UPDATE.
-- Nothing here may ever expire or be cleaned up: a forgotten record is a window that is granted twice.

CREATE TABLE IF NOT EXISTS flakeforge_record (
  group_name text COLLATE "C" NOT NULL,  -- "C" compares bytes
  name text COLLATE "C" NOT NULL,        -- group, counter, or slot and ten digits
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (group_name, name)
) WITH (
  fillfactor = 50,                       -- room on the page, so that an update need not touch the index
  -- Every renewal leaves a dead row behind: sweep early.
  autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.1
);
`
