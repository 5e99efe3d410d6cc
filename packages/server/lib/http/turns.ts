// Clients may send further requests on a connection before they have read the answer to the first one (pipelining). Each
// connection has one request in progress: the next one's turn comes when the last byte of the answer before it has left for
// the client, and after the requests that other connections sent meanwhile. So a client that sends a thousand requests in one
// packet takes turns with all others, and one that does not read its answers costs the memory of one answer.
//
// Node parses a packet as a whole, so the requests of the first such packet are kept, and reading stops meanwhile. From then
// on, all connections are read a request at a time (single.ts), so that nothing more has to be kept. Hardly any client does
// this, and the others need not pay for it.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { readSingly } from './single.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Line {
  /** the answer in progress, or the last one */
  answer: ServerResponse
  behind: Entry[]
}

/** What comes after the answer in progress: a request, or the end of the connection. */
interface Entry {
  request?: IncomingMessage | undefined
  begin: () => void
}

export class Turns {
  #lines: WeakMap<Socket, Line> = new WeakMap()
  /** connections that are read a packet at a time; undefined once none is */
  #whole: Set<Socket> | undefined = new Set()

  /** To be called for each connection that carries requests. */
  begin(socket: Socket) {
    if (this.#whole === undefined) return this.#readSingly(socket)
    this.#whole.add(socket)
    socket.once('close', () => this.#whole?.delete(socket))
  }

  /** A handler that is called for one request of a connection at a time. */
  of(handler: Handler): Handler {
    return (request, response) => {
      const { socket } = request
      const line = this.#lines.get(socket)
      if (line === undefined) this.#lines.set(socket, { answer: response, behind: [] })
      else if (isBusy(line)) {
        const begin = () => {
          line.answer = response
          handler(request, response)
        }
        return this.#wait(socket, line, { request, begin })
      } else line.answer = response
      handler(request, response)
    }
  }

  /**
   * Refuses what a connection sent last, and ends it. Requests before that get their answers first: a client would take a
   * refusal for the answer to the oldest one.
   * @param isLate whether it is refused because the rest of it has not arrived
   */
  end(socket: Socket, refuse: () => void, isLate: boolean = false) {
    const line = this.#lines.get(socket)
    if (line === undefined || !isBusy(line)) return refuse()
    const last = line.behind.at(-1)
    const request = last === undefined ? line.answer.req : last.request
    if (request === undefined) return // it was refused before
    if (request.complete && isLate) return // the rest is not read yet
    if (request.complete) return this.#wait(socket, line, { begin: refuse })
    // The request is refused itself, such as for its body.
    if (last === undefined) return refuse()
    last.begin = refuse
    last.request = undefined
  }

  #wait(socket: Socket, line: Line, entry: Entry) {
    holdBack(socket)
    this.#readAllSingly()
    if (line.behind.push(entry) === 1) this.#whenOver(line, socket)
  }

  #readAllSingly() {
    const all = this.#whole ?? []
    this.#whole = undefined
    for (const socket of all) {
      // Node starts to read a paused connection again only if its parser is still there when the connection resumes.
      if (socket.isPaused()) socket.once('resume', () => this.#readSingly(socket))
      else this.#readSingly(socket)
    }
  }

  #readSingly(socket: Socket) {
    const line = () => this.#lines.get(socket)
    readSingly(
      socket,
      () => line()?.answer,
      () => isBusy(line() as Line),
    )
  }

  #whenOver(line: Line, socket: Socket) {
    const next = () => this.#next(line, socket)
    // Other connections are read in between.
    line.answer.once('close', () => setImmediate(next))
  }

  #next(line: Line, socket: Socket) {
    // An answer with `Connection: close` is the last one: what follows it was never accepted.
    if (socket.destroyed || socket.writableEnded) {
      line.behind = []
      return
    }
    const { begin } = line.behind.shift() as Entry
    if (line.behind.length === 0) letGo(socket)
    begin()
    if (line.behind.length > 0) this.#whenOver(line, socket)
  }
}

/** Node resumes a connection whenever it has read a request of it, so pause() alone does not last. */
function holdBack(socket: Socket) {
  if (Object.hasOwn(socket, 'resume')) return
  socket.pause()
  socket.resume = () => socket
}

function letGo(socket: Socket) {
  Reflect.deleteProperty(socket, 'resume')
  socket.resume()
}

const isBusy = ({ answer, behind }: Line) => behind.length > 0 || (!answer.writableFinished && !answer.closed)
