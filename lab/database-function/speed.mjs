// `node lab/database-function/speed.mjs [postgres|mysql]…`: how many IDs a second the function of `flakeforge schema --function`
// makes, with 1, 2 and 16 sessions that do nothing else, 100 IDs in each statement, beside what the database has itself. The
// bursts take turns, so that a busy machine slows all of them down; medians, and the best burst. The CPU time of the server for an
// ID depends less on what else the machine does.

import { readdirSync, readFileSync } from 'node:fs'
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

const TICK_US = 10_000 // of the kernel's counts

/** The CPU time of a server and its children so far, in µs. */
function cpuOf(pid) {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1].split(' ')
        return { id: Number(name), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }
      } catch {
        return {} // it has ended
      }
    })
  const own = stats.filter(({ id, parent }) => id === pid || parent === pid)
  return own.reduce((sum, { ticks }) => sum + ticks, 0) * TICK_US
}

/** IDs a second of these connections in one burst, and the µs of CPU for each. */
async function burst(pid, connections, statement) {
  const [start, cpu] = [performance.now(), cpuOf(pid)]
  let made = 0
  const session = async (connection) => {
    while (performance.now() - start < BURST_MS) {
      await connection.run(statement)
      made += ROWS
    }
  }
  await Promise.all(connections.map(session))
  return { rate: made / ((performance.now() - start) / 1_000), us: (cpuOf(pid) - cpu) / made }
}

function report(name, key, bursts) {
  const rates = bursts.map(({ rate }) => rate)
  const [usual, best] = [median(rates), Math.max(...rates)].map((rate) => `${Math.round(rate / 1_000)} 000`)
  const us = median(bursts.map((each) => each.us)).toFixed(1)
  console.log(`${name.padEnd(9)} ${key.padEnd(34)} ${usual} IDs/s, best ${best}; ${us} µs of CPU for each`)
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
          const statement = `SELECT max(${call}) FROM ${SERIES[name]}`
          const one = await burst(server.pid, connections.slice(0, sessions), statement)
          found.set(key, [...(found.get(key) ?? []), one])
        }
    for (const [key, bursts] of found) report(name, key, bursts)
    await Promise.all(connections.map((connection) => connection.end()))
  } finally {
    await server.stop()
  }
}

const names = process.argv.slice(2)
for (const name of names.length > 0 ? names : Object.keys(DATABASES)) await measure(name)
