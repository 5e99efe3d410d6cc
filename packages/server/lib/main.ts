// Runs the command line: the help, the version, or the service. Errors go to stderr, with an exit status for invalid options
// or a failure.

import manifest from '../package.json' with { type: 'json' }
import { ConfigError } from './config/config-error.ts'
import { helpText } from './config/help.ts'
import { ofArguments } from './config/sources.ts'
import { write } from './http/log.ts'

/** The usual exit status of a program with invalid options. */
const BAD_CONFIGURATION = 2

export async function main(args: string[], env: NodeJS.ProcessEnv) {
  try {
    const given = ofArguments(args)
    if (given.help) return process.stdout.write(helpText())
    if (given.version) return process.stdout.write(`${manifest.version}\n`)
    const { serve } = await import('./serve.ts') // fastify and the stores are not loaded for the help
    await serve(given, env)
  } catch (error) {
    fail(error as NodeJS.ErrnoException)
  }
}

function fail(error: NodeJS.ErrnoException) {
  const isConfiguration = error instanceof ConfigError
  const text = isConfiguration || error.syscall === 'listen' ? listenText(error) : error.stack
  write(`flakeforge-server: ${text}`)
  process.exit(isConfiguration ? BAD_CONFIGURATION : 1)
}

function listenText({ code, message, port, address }: NodeJS.ErrnoException & { port?: number; address?: string }) {
  if (code === 'EADDRINUSE' && port !== undefined) return `Port ${port} is already in use. --port 0 picks a free one.`
  if (code === 'EADDRINUSE') return `The socket ${address} is already in use by a running server.`
  return message
}
