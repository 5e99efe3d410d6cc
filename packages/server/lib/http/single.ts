// Gives Node's parser one request of a connection at a time.
//
// Node parses a packet as a whole, and a parsed request takes ten to seventy times the memory of its bytes. Here Node gets no
// byte behind the head of a request until it was answered. The rest of the packet goes back to the socket, which stops reading:
// on each connection, at most one packet of 64 KB waits. It costs 10 % of the time of a request, because Node otherwise
// reads without any JavaScript.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Ends the head of a request. The parser gets two requests if it stands in two packets, or if the first one has a body. */
const END = '\r\n\r\n'

/** A body, and the lines between two requests, may consist of nothing else. Others are read after this many parts of that. */
const MOST_PARTS = 64

/**
 * Stands between a connection and Node's parser, which listens to it already.
 * @param latest the answer in progress, or the last one
 * @param isBusy whether it is in progress
 */
export function readSingly(socket: Socket, latest: () => ServerResponse | undefined, isBusy: () => boolean) {
  const [parse] = socket.listeners('data') as [((bytes: Buffer) => void)?]
  if (parse === undefined) return // after CONNECT
  let awaited: ServerResponse | undefined
  let parts = 0 // how many the parser has received since other connections were read
  const goOn = () => {
    parts = 0
    socket.resume()
  }
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
      if (parts >= MOST_PARTS) {
        socket.pause().unshift(rest)
        if (parts++ === MOST_PARTS) setImmediate(goOn)
        return
      }
      parts++
      const at = rest.indexOf(END, 0, 'latin1')
      const end = at === -1 ? rest.length : at + END.length
      parse(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
  })
}
