// Runs a library's programs, each in a separate process, so that its types, its hooks and its crash affect no other. A
// process that does not end in time is killed, and its output is in the error.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const { programOf } = createRequire(import.meta.url)('../../scripts/runtimes.js')

const LIMIT_MS = 120_000
const PREPARE_MS = 600_000 // a package may have to be compiled
const NEEDED = [22, 18] // Prisma's generated TypeScript; MikroORM, node:sqlite, Kysely and better-sqlite3 need 22 too

/** This Node.js, or a newer one from npm where it is too old for a library. */
export function nodeProgram([major, minor] = process.versions.node.split('.').map(Number)) {
  const isNewEnough = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
  return isNewEnough ? process.execPath : programOf('node-24')
}

/** Runs a script; resolves to the message that it sent, once it has ended successfully. */
function runScript(args, limitMs = LIMIT_MS) {
  const options = ['--no-warnings=ExperimentalWarning']
  const child = spawn(nodeProgram(), [...options, ...args], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-4000)
    })
  }
  let sent
  child.on('message', (message) => {
    sent = message
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(sent)
      const how =
        signal === 'SIGKILL'
          ? `was killed: by the system, or after ${limitMs / 1000} s`
          : `ended with ${code ?? signal}`
      reject(new Error(`${args.join(' ')} ${how}\n${output}`))
    })
  })
}

/** What a library needs once, such as generated code: its prepare.js. */
export async function prepare(library) {
  const script = join(library.folder, 'prepare.js')
  if (existsSync(script)) await runScript([script], PREPARE_MS)
}

/** The results of one way of one library on one database, by operation and size. */
export async function runWay(library, database, way, server) {
  const name = `${library.name}_${way}`.replaceAll(/\W/g, '_')
  const signed = library.isSigned(database, way) ? 'signed' : 'unsigned'
  const results = await runScript(['child.js', library.name, database, way, await server.fresh(name), signed])
  if (results === undefined) throw new Error(`${library.name} on ${database} ended without results`)
  return results
}

/** What the library's own default in the database does on one database: the results of its function.js. */
export async function runFunction(library, database, server) {
  const url = await server.fresh(`${library.name}_function`.replaceAll(/\W/g, '_'))
  return runScript(['child-function.js', library.name, database, url])
}
