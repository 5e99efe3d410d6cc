'use strict'

// A tool that copies a Redis: it speaks the protocol of a replica and acknowledges what it receives, as tools for
// migrations and change feeds do. Its server counts it among its replicas, although it can never be promoted. This one
// keeps nothing.

const net = require('node:net')

const ACKNOWLEDGE_MS = 1000

const command = (...words) =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`

class CopyingTool {
  #socket
  #rest = Buffer.alloc(0)
  #offset // how far it has the server's stream; undefined until that begins
  #timer

  constructor({ host, port }) {
    this.#socket = net.connect(port, host).on('error', () => {})
    this.#socket.on('data', (bytes) => this.#receive(bytes))
    this.#socket.write(command('REPLCONF', 'listening-port', String(port)))
    this.#socket.once('data', () => this.#socket.write(command('PSYNC', '?', '-1'))) // refused while an answer is pending
  }

  stop() {
    clearInterval(this.#timer)
    this.#socket.destroy()
  }

  /** First `+FULLRESYNC id offset`, then `$length` and that many bytes of data, then the stream of writes. */
  #receive(bytes) {
    if (this.#timer !== undefined) return this.#follow(bytes)
    this.#rest = Buffer.concat([this.#rest, bytes])
    const text = this.#rest.toString('latin1') // one character for each byte
    const begin = /\+FULLRESYNC \w+ (\d+)\r\n[\r\n]*\$(\d+)\r\n/.exec(text)
    if (begin === null) return
    const end = begin.index + begin[0].length + Number(begin[2])
    if (text.length < end) return
    this.#offset = Number(begin[1])
    this.#timer = setInterval(() => this.#acknowledge(), ACKNOWLEDGE_MS)
    this.#follow(this.#rest.subarray(end))
  }

  /** The server asks for an acknowledgement (GETACK) if a client waits for one. */
  #follow(bytes) {
    this.#offset += bytes.length
    if (bytes.includes('GETACK')) this.#acknowledge()
  }

  #acknowledge() {
    this.#socket.write(command('REPLCONF', 'ACK', String(this.#offset)))
  }
}

module.exports = { CopyingTool }
