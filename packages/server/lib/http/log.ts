// The server's output on stderr: warnings, and of requests only the method, the route's pattern, the status and the time.
// Paths, addresses, headers and bodies are not logged.

import { printable, withoutSecretsIn } from '../../../shared.ts'

/** A text of one or more lines. Parts of it may be from outside, so passwords and control characters are hidden. */
export const write = (text: string) =>
  void process.stderr.write(`${withoutSecretsIn(text).split('\n').map(printable).join('\n')}\n`)

export class Log {
  #least

  /** @param what 'none', 'errors' or 'requests' */
  constructor(what: string) {
    this.#least = { none: 1000, errors: 500, requests: 0 }[what] ?? 0
  }

  warn(text: string) {
    write(`flakeforge-server: ${text}`)
  }

  /** An unexpected error of ours. */
  failure(error: Error) {
    this.warn(`unexpected error, please report it: ${error.stack}`)
  }

  /** An answer was sent. */
  answered(method: string, route: string, status: number, ms: number) {
    // 503 is a frequent answer of a full or starting server.
    if (status < this.#least || (status === 503 && this.#least > 0)) return
    write(`${new Date().toISOString()} ${method} ${route} ${status} ${ms.toFixed(1)} ms`)
  }
}
