// The command `flakeforge` as users run it: in an environment without settings for it, with a folder for slots that no
// other test file uses. start(), run() and fails() use a separate process; commands that need none share a few.

import { fork, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { outputOf } from './index.mjs'
import { turns } from './turns.mjs'
import { limited } from './waits.mjs'

export const COMMAND = fileURLToPath(new URL('../../dist/flakeforge.cjs', import.meta.url))
const OUTSIDE = ['--require', path.join(import.meta.dirname, '..', 'workers', 'not-in-a-container.cjs')]
const ASKING = /^(?:NO_COLOR|FORCE_COLOR|FLAKEFORGE_.*|XDG_STATE_HOME|container|KUBERNETES_SERVICE_HOST)$/

const state = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-state-'))
process.once('exit', () => fs.rmSync(state, { recursive: true, force: true }))

/** The environment of a command: `undefined` removes a variable. */
export function environment(env = {}) {
  const others = Object.entries(process.env).filter(([name]) => !ASKING.test(name))
  return { ...Object.fromEntries(others), XDG_STATE_HOME: state, ...env }
}

/** Starts the command; as if outside of a container, unless a test is about containers. */
export const start = (args, { env, isContainer = false, stdio } = {}) =>
  spawn(process.execPath, [...(isContainer ? [] : OUTSIDE), COMMAND, ...args], {
    env: environment(isContainer ? { container: 'docker', ...env } : env),
    stdio,
    timeout: 60_000,
  })

/** A hundred commands at once would take as long as they may. */
const inTurn = turns(4)

/** Runs the command; `stopAfter` closes the pipe once this many characters have arrived. */
export const run = (args, options) => inTurn(() => runNow(args, options))

function runNow(args, { input = '', stopAfter = Number.POSITIVE_INFINITY, ...options } = {}) {
  const child = start(args, options)
  let length = 0
  child.stdout.on('data', (text) => {
    length += text.length
    if (length >= stopAfter) child.stdout.destroy()
  })
  child.stdin.on('error', () => {}) // a command that needs no input may end before it is written
  child.stdin.end(input)
  return outputOf(child)
}

/** Commands that only compute and print. */
const COMPUTES = new Set(['at', 'completion', 'help', 'inspect', 'layouts'])

/** Processes that run such commands, see workers/commands.cjs, and wait for the next one. */
const idle = []
const HOST = path.join(import.meta.dirname, '..', 'workers', 'commands.cjs')

function startHost() {
  const host = fork(HOST, [COMMAND], { execArgv: OUTSIDE, env: environment() })
  host.unref()
  host.channel.unref()
  return host
}

/** Runs a command that does not need a separate process. */
export const compute = (args) =>
  inTurn(async () => {
    const host = idle.pop() ?? startHost()
    const result = await answerOf(host, args)
    if (result.signal === null) idle.push(host)
    return result
  })

function answerOf(host, args) {
  const answer = new Promise((resolve) => {
    const onExit = (code, signal) => resolve({ code, signal: signal ?? 'exit', stdout: '', stderr: '' })
    host.ref()
    host.once('exit', onExit)
    host.once('message', (result) => {
      host.off('exit', onExit)
      host.unref()
      resolve(result)
    })
    host.send(args)
  })
  return limited(answer, () => `the output of ${args.join(' ')}`)
}

/** What `create` says while it waits, where no test is about that. */
export const WHY_LONG = /^flakeforge: Creating group '.*' takes \d+ s on a server: .*\n/

/** The output of a command that must succeed with an empty stderr. */
export async function textOf(t, args, options) {
  const canShare = options === undefined && COMPUTES.has(args[0])
  const { code, signal, stdout, stderr } = await (canShare ? compute(args) : run(args, options))
  const others = stderr.replace(WHY_LONG, '')
  t.deepEqual({ code, signal, stderr: others }, { code: 0, signal: null, stderr: '' }, args.join(' '))
  return stdout
}

/** The lines of such a command, and the same as JSON. */
export const linesOf = async (t, args, options) =>
  (await textOf(t, args, options)).split('\n').filter((line) => line !== '')
export const jsonOf = async (t, args, options) => (await linesOf(t, args, options)).map((line) => JSON.parse(line))

/** Asserts an exit status, an empty stdout, and one line on stderr, which it returns. */
function ends(t, status, args, message, { code, stdout, stderr }) {
  t.is(code, status, `${args.join(' ')}: ${stderr}`)
  t.is(stdout, '')
  t.regex(stderr, /^flakeforge: [^\n]+\n$/)
  t.regex(stderr, message)
  return stderr
}

/** The command line is wrong: then nothing is done, so a shared process is enough. */
export const isRefused = async (t, args, message, options) =>
  ends(t, 2, args, message, await (options === undefined ? compute(args) : run(args, options)))

/** The command was understood, and failed. */
export const fails = async (t, args, message, options) => ends(t, 1, args, message, await run(args, options))
