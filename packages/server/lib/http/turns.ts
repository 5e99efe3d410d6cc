// Clients may send further requests on a connection before they have read the answer to the first one (pipelining). Each
// connection has one request in progress: the next one's turn comes when the last byte of the answer before it has left for
// the client, and after the requests that other connections sent meanwhile. So a client that sends a thousand requests in one
// packet takes turns with all others, and one that does not read its answers costs the memory of one answer.
//
// Node parses a packet as a whole, so its requests have to be kept. Reading stops meanwhile, and the number of all kept
// requests is limited.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Requests behind another one of their connection, of all connections. One takes about 4 KB. */
const MOST = 20_000

interface Line {
  /** the answer in progress, or the last one */
  answer: ServerResponse
  behind: [request: IncomingMessage, response: ServerResponse][]
}

export class Turns {
  #lines: WeakMap<Socket, Line> = new WeakMap()
  #count = 0

  /** A handler that is called for one request of a connection at a time. */
  of(handler: Handler): Handler {
    return (request, response) => {
      const { socket } = request
      const line = this.#lines.get(socket)
      if (line === undefined) this.#lines.set(socket, { answer: response, behind: [] })
      else if (line.behind.length > 0 || isInProgress(line.answer)) return this.#wait(line, request, response, handler)
      else line.answer = response
      handler(request, response)
    }
  }

  #wait(line: Line, request: IncomingMessage, response: ServerResponse, handler: Handler) {
    const { socket } = request
    if (this.#count >= MOST) return void socket.destroy()
    socket.pause()
    this.#count++
    if (line.behind.push([request, response]) === 1) this.#whenOver(line, socket, handler)
  }

  #whenOver(line: Line, socket: Socket, handler: Handler) {
    const next = () => this.#next(line, socket, handler)
    // Other connections are read in between.
    line.answer.once('close', () => setImmediate(next))
  }

  #next(line: Line, socket: Socket, handler: Handler) {
    // An answer with `Connection: close` is the last one: what follows it was never accepted.
    if (socket.destroyed || socket.writableEnded) {
      this.#count -= line.behind.length
      line.behind = []
      return
    }
    const [request, response] = line.behind.shift() as [IncomingMessage, ServerResponse]
    this.#count--
    line.answer = response
    if (line.behind.length > 0) this.#whenOver(line, socket, handler)
    else socket.resume()
    handler(request, response)
  }
}

const isInProgress = (answer: ServerResponse) => !answer.writableFinished && !answer.closed
