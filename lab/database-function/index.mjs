// `node lab/database-function/index.mjs postgres|mysql [--ids 1e6] [--crashes 10]`: equal IDs of the function that
// `flakeforge schema --function` prints, under faults. Exit status 1 if there are any.

import { parseArgs } from 'node:util'
import { DATABASES } from './databases.mjs'
import { soak } from './soak.mjs'

const options = { ids: { type: 'string', default: '1e6' }, crashes: { type: 'string', default: '10' } }
const { values, positionals } = parseArgs({ options, allowPositionals: true })

for (const name of positionals.length > 0 ? positionals : Object.keys(DATABASES)) {
  const database = DATABASES[name]
  if (database === undefined) throw new Error(`There is no database '${name}'. There are ${Object.keys(DATABASES)}.`)
  if (database.want() === undefined) continue
  const found = await soak(name, database, { ids: Number(values.ids), crashes: Number(values.crashes) })
  console.log(name, found)
  if (found.equal + found.seen + found.strangers + found.late > 0) process.exitCode = 1
}
