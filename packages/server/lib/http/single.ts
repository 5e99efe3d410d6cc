// Gives Node's parser one request of a connection at a time.
//
// Node parses a packet as a whole, and a parsed request takes ten to seventy times the memory of its bytes. Here Node gets no
// byte behind the end of a request until it was answered. The rest of the packet goes back to the socket, which stops reading:
// on each connection, at most one packet of 64 KB waits. It costs 10 % of the time of a request, because Node otherwise
// reads without any JavaScript.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The end of a request's head, and of a chunked body. */
const END = '\r\n\r\n'

/**
 * Stands between a connection and Node's parser, which listens to it already.
 * @param latest the answer in progress, or the last one
 * @param isBusy whether it is in progress
 */
export function readSingly(socket: Socket, latest: () => ServerResponse | undefined, isBusy: () => boolean) {
  const [parse] = socket.listeners('data') as [((bytes: Buffer) => void)?]
  if (parse === undefined) return // after CONNECT
  const endOf = ends()
  let awaited: ServerResponse | undefined
  socket.off('data', parse).on('data', (bytes: Buffer) => {
    // After the last answer nothing is accepted.
    for (let rest = bytes; rest.length > 0 && socket.writable; ) {
      const answer = latest()
      if (answer?.req.complete && isBusy()) {
        socket.pause().unshift(rest)
        // Node itself resumes a connection for each request that it has read, so this may be reached again.
        if (answer !== awaited) answer.once('close', () => setImmediate(() => socket.resume())) // others are read in between
        awaited = answer
        return
      }
      const end = endOf(rest, answer?.req)
      if (end === rest.length) return parse(rest)
      parse(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
  })
}

/**
 * Returns a function that says how many of the bytes Node may get at once: up to where a request ends, at most.
 * @returns a function of the next bytes, and of the last request so far
 */
function ends() {
  let before = '' // the last bytes before these, unless a request may begin here
  let bodyOf: IncomingMessage | undefined
  let body = 0 // bytes that are left of it
  return (bytes: Buffer, last: IncomingMessage | undefined) => {
    if (last !== undefined && last !== bodyOf && !last.complete) {
      bodyOf = last
      body = Number(last.headers['content-length'] ?? 0)
    }
    if (body > 0) {
      const count = Math.min(body, bytes.length)
      body -= count
      return count
    }
    const end = endOfHead(before, bytes)
    before = end === 0 ? (before + bytes.toString('latin1', Math.max(0, bytes.length - 3))).slice(-3) : ''
    return end === 0 ? bytes.length : end
  }
}

/**
 * Where the first head in the bytes ends; 0 if none does.
 * @param before up to three bytes of it that came earlier
 */
function endOfHead(before: string, bytes: Buffer) {
  const seam = before === '' ? -1 : (before + bytes.toString('latin1', 0, 3)).indexOf(END)
  if (seam !== -1) return seam + END.length - before.length
  const at = bytes.indexOf(END, before === '' ? beginOfHead(bytes) : 0, 'latin1')
  return at === -1 ? 0 : at + END.length
}

/** Empty lines before a request are allowed (RFC 9112, 2.2). */
function beginOfHead(bytes: Buffer) {
  let at = 0
  while (bytes[at] === 0x0d || bytes[at] === 0x0a) at++
  return at
}
