// The command `flakeforge` as users run it: in a process of its own, in an environment that asks for nothing.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { outputOf } from './support.mjs'

const COMMAND = fileURLToPath(new URL('../bin/flakeforge.js', import.meta.url))
const ASKING = ['NO_COLOR', 'FORCE_COLOR', 'FLAKEFORGE_STORE', 'XDG_STATE_HOME']

/** Runs the command; `stopAfter` closes the pipe once so many characters have come. */
export function run(args, { input = '', env = {}, stopAfter = Number.POSITIVE_INFINITY } = {}) {
  const others = Object.entries(process.env).filter(([name]) => !ASKING.includes(name))
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: { ...Object.fromEntries(others), ...env },
    timeout: 60_000,
  })
  let length = 0
  child.stdout.on('data', (text) => {
    length += text.length
    if (length >= stopAfter) child.stdout.destroy()
  })
  child.stdin.on('error', () => {}) // a command that needs no input may end before it is written
  child.stdin.end(input)
  return outputOf(child)
}

/** What a command that must succeed without a word on stderr prints. */
export async function textOf(t, args, options) {
  const { code, signal, stdout, stderr } = await run(args, options)
  t.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' }, args.join(' '))
  return stdout
}

/** Exit status 2, nothing on stdout, and one sentence on stderr, which it gives. */
export async function isRefused(t, args, message, options) {
  const { code, stdout, stderr } = await run(args, options)
  t.is(code, 2, args.join(' '))
  t.is(stdout, '')
  t.regex(stderr, /^flakeforge: [^\n]+\n$/)
  t.regex(stderr, message)
  return stderr
}
