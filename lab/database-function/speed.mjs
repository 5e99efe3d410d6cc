// `node lab/database-function/speed.mjs [postgres|mysql]…`: how many IDs a second the function of `flakeforge schema --function`
// makes, with 1, 2 and 16 sessions that do nothing else, 100 IDs in each statement, beside what the database has itself. The
// bursts take turns, so that a busy machine slows all of them down; medians, and the best burst.

import { DATABASES, sqlOf } from './databases.mjs'

const SESSIONS = [1, 2, 16]
const MOST = Math.max(...SESSIONS)
const BURSTS = 7
const BURST_MS = 1_000
const NODE = 1023
const ROWS = 100 // of a statement

const SERIES = { postgres: `generate_series(1, ${ROWS})`, mysql: `seq_1_to_${ROWS}` }
const KINDS = {
  'NEXTVAL of a sequence': { postgres: "nextval('s')", mysql: 'NEXTVAL(s)' },
  'flake_id()': { postgres: 'flake_id()', mysql: 'flake_id()' },
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

/** IDs a second of these connections in one burst. */
async function burst(connections, statement) {
  const start = performance.now()
  let made = 0
  const session = async (connection) => {
    while (performance.now() - start < BURST_MS) {
      await connection.run(statement)
      made += ROWS
    }
  }
  await Promise.all(connections.map(session))
  return made / ((performance.now() - start) / 1_000)
}

async function measure(name) {
  const database = DATABASES[name]
  if (database.want() === undefined) return
  const server = await database.start({})
  try {
    await database.apply(
      server,
      `${await sqlOf(name, '--function', 'flake_id', '--node', String(NODE))} CREATE SEQUENCE s;`,
    )
    const connections = await Promise.all(Array.from({ length: MOST }, () => database.connect(database.urlOf(server))))
    const found = new Map()
    for (let i = 0; i < BURSTS; i++)
      for (const sessions of SESSIONS)
        for (const [kind, { [name]: call }] of Object.entries(KINDS)) {
          const key = `${kind}, ${sessions} sessions`
          const rate = await burst(connections.slice(0, sessions), `SELECT ${call} AS id FROM ${SERIES[name]}`)
          found.set(key, [...(found.get(key) ?? []), rate])
        }
    for (const [key, rates] of found)
      console.log(
        name.padEnd(9),
        key.padEnd(36),
        ...[median(rates), Math.max(...rates)].map((rate) => String(Math.round(rate / 1_000)).padStart(5)),
        '000 IDs/s',
      )
    await Promise.all(connections.map((connection) => connection.end()))
  } finally {
    await server.stop()
  }
}

const names = process.argv.slice(2)
for (const name of names.length > 0 ? names : Object.keys(DATABASES)) await measure(name)
