'use strict'

// `flakeforge schema`: the tables of the PostgreSQL store, for those who create tables by migrations. It must never
// connect to anything, and never contain statements of its own.

const { version } = require('../../package.json')
const { usageError } = require('../parts/faults.js')
const { print } = require('../parts/output.js')

/** The statements that the store itself runs if it has the rights. */
const schema = () => require('../../lib/stores/postgres/schema.js')

const HEADER = `-- The tables of flakeforge ${version}, printed by: flakeforge schema
-- Applying it again changes nothing. Members need no other rights than:
--   GRANT SELECT, INSERT, UPDATE, DELETE ON flakeforge_group, flakeforge_slot, flakeforge_counter TO your_role;

`

async function run({ values, operands }) {
  if (operands.length > 0) throw usageError(`schema takes no argument, so leave out '${operands[0]}'.`)
  const sql = `${HEADER}${schema().trim()}\n`
  await print(values.json ? `${JSON.stringify({ sql })}\n` : sql)
}

module.exports = {
  summary: 'print the tables of the PostgreSQL store as SQL',
  operands: '',
  about: `Prints the SQL that makes the tables of the PostgreSQL store (12 or newer) in the current schema. The store makes them
itself at first use where its role may; print them if you use migrations, or if that role may not create tables. Nothing is
connected to.`,
  options: {},
  examples: [
    ['flakeforge schema | psql postgres://owner@localhost/app', 'make the tables'],
    ['flakeforge schema > migrations/0042_flakeforge.sql', 'keep them as a migration'],
  ],
  run,
}
