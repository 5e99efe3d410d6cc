// flakeforge-server for tests, as a separate process: `startServer({ args, env })` resolves once it is ready, and
// `stop()` ends it and removes the folder with its slots.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { limited, once } from '../support/waits.mjs'
import { freshFolder, until } from './server.mjs'

export const PROGRAM = fileURLToPath(new URL('../../packages/server/dist/flakeforge-server.mjs', import.meta.url))

const READY = /^flakeforge-server is ready at (\S+)$/
const LISTENING = /listens at (\S+?),/

/** Running servers: a test run that ends early must not leave them behind. */
const present = new Set()
process.once('exit', () => {
  for (const child of present) child.kill('SIGKILL')
})

/** The part of the tests' own environment that a server sees. */
export const clean = (env) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:PORT|FLAKEFORGE_.*)$/.test(name)))

/** Whether the arguments or their file name a store: a variable would take precedence over the file. */
function hasStore(args) {
  const file = args[args.indexOf('--config') + 1]
  return (
    args.some((arg) => arg.startsWith('--store')) ||
    (args.includes('--config') && 'store' in JSON.parse(readFileSync(file, 'utf8')))
  )
}

/**
 * Starts a server. Without a store among `args` or in `env` it gets a fresh folder, which `stop()` removes.
 * @param {{ args?: string[], env?: Record<string, string>, port?: number, until?: 'ready' | 'listening' }} [options]
 * `until: 'listening'` resolves as soon as it answers /livez, ready or not
 * @returns `url`, `port`, `child`, `lines` (its stdout), `warnings` (its stderr, line by line), `told(pattern)`, `stop()`,
 * `kill(signal)` which resolves with [code, signal]
 */
export async function startServer({ args = [], env = {}, port = 0, until: when = 'ready' } = {}) {
  const folder = await freshFolder('server')
  const store = hasStore(args) ? {} : { FLAKEFORGE_STORE: `file:${folder}` }
  const given = { ...clean(process.env), ...store, ...env }
  const child = spawn(process.execPath, [PROGRAM, '--port', String(port), ...args], {
    env: given,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  present.add(child)
  child.once('exit', () => present.delete(child))
  const server = {
    child,
    lines: [],
    warnings: [],
    folder,
    isOver: false,
    get exit() {
      return once(child, 'exit')
    },
  }
  child.once('close', () => {
    server.isOver = true // and all of its output was read
  })
  const kill = async (signal = 'SIGKILL') => {
    child.kill(signal)
    return server.exit
  }
  const stop = async () => {
    await kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
  /**
   * Resolves with the first line of stderr from number `from` on that matches, once it is there. Rejects with all lines if
   * the server ends without it, and after a limit.
   */
  const told = async (pattern, from = 0, options = {}) => {
    const lines = () => server.warnings.slice(from)
    const found = () => lines().find((line) => pattern.test(line))
    const state = () => `no line matches ${pattern}. The server told:\n${lines().join('\n')}`
    await until(() => found() !== undefined || server.isOver, { state, ...options })
    return found() ?? assert.fail(`The server ended: ${state()}`)
  }
  Object.assign(server, { kill, stop, told })
  const starting = new Promise((resolve, reject) => {
    const look = (list, pattern) => (line) => {
      list.push(line)
      const [, found] = pattern.exec(line) ?? []
      if (found !== undefined) resolve(found)
    }
    eachLine(child.stdout, look(server.lines, READY))
    eachLine(child.stderr, look(server.warnings, when === 'listening' ? LISTENING : /^\b$/))
    child.once('exit', (code, signal) =>
      reject(new Error(`flakeforge-server ended with ${signal ?? code}:\n${server.warnings.join('\n')}`)),
    )
  })
  const url = await limited(starting, () => `flakeforge-server is ${when}. It told:\n${server.warnings.join('\n')}`)
  return Object.assign(server, { url, port: Number(new URL(url).port) })
}

/** Calls back for each complete line of a stream. */
function eachLine(stream, tell) {
  let rest = ''
  stream.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    for (const line of lines) tell(line)
  })
}
