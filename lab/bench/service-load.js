'use strict'

// Loads HTTP servers from a separate process: `node service-load.js TARGETS`, with JSON `[{ url, accept }]`, prints the
// requests/s of each in each round. The targets alternate in bursts, so a noisy machine disturbs all alike. Each burst
// keeps CONNECTIONS * DEPTH requests in progress. It must cost less than the servers that it measures: it parses only
// the first answer, and then counts bytes. All answers of a target are equally long, and any other (such as an error
// response) is an error.

const { once } = require('node:events')
const net = require('node:net')
const { performance } = require('node:perf_hooks')

const CONNECTIONS = 10 // autocannon's default
const DEPTH = 1 // requests in progress on each: clients of HTTP/1.1 do not send the next one before the answer
const BURST_MS = 200
const WARM_UP = 8 // bursts that do not count
const ROUNDS = Number(process.env.BENCH_BURSTS ?? 25)
const LOST_MS = 5_000

/** A connection that keeps DEPTH requests in progress for as long as `isOn`. */
class Connection {
  #socket
  #requests // 0, 1, 2 … DEPTH requests as one buffer
  #length // of an answer
  #got = 0
  underWay = 0
  done = 0

  constructor(socket, request, length) {
    this.#socket = socket
    this.#length = length
    this.#requests = Array.from({ length: DEPTH + 1 }, (_, n) => Buffer.from(request.repeat(n)))
    socket.on('data', (chunk) => this.#read(chunk))
  }

  start() {
    this.isOn = true
    this.#send(DEPTH)
  }

  /** Resolves once the requests in progress are answered. */
  async stop() {
    this.isOn = false
    const deadline = performance.now() + LOST_MS
    while (this.underWay > 0 || this.#got > 0) {
      if (performance.now() > deadline)
        throw new Error(`${this.underWay} answers are missing, or are not ${this.#length} bytes`)
      await new Promise(setImmediate)
    }
  }

  #send(n) {
    this.underWay += n
    this.#socket.write(this.#requests[n])
  }

  #read(chunk) {
    this.#got += chunk.length
    const answered = Math.floor(this.#got / this.#length)
    if (answered === 0) return
    this.#got -= answered * this.#length
    this.done += answered
    this.underWay -= answered
    if (this.isOn) this.#send(answered)
  }
}

async function connect(url) {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname).setNoDelay()
  await once(socket, 'connect')
  return socket
}

/** The length of an answer. */
async function lengthOf(url, request) {
  const socket = await connect(url)
  socket.write(request)
  let answer = Buffer.alloc(0)
  for await (const chunk of socket) {
    answer = Buffer.concat([answer, chunk])
    const end = answer.indexOf('\r\n\r\n') + 4
    const head = answer.toString('latin1', 0, end)
    if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(`${url} answers ${answer}`)
    const length = end + Number(/^content-length: (\d+)/im.exec(head)[1])
    if (end > 3 && answer.length >= length) return length
  }
}

async function open({ url, accept }) {
  const { host, pathname, search } = new URL(url)
  const request = `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\naccept: ${accept}\r\ncontent-length: 0\r\n\r\n`
  const length = await lengthOf(url, request)
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(url)))
  return sockets.map((socket) => new Connection(socket, request, length))
}

/** Requests/s of one burst. */
async function burst(connections) {
  const before = connections.reduce((sum, each) => sum + each.done, 0)
  const start = performance.now()
  for (const each of connections) each.start()
  await new Promise((resolve) => setTimeout(resolve, BURST_MS))
  await Promise.all(connections.map((each) => each.stop()))
  const done = connections.reduce((sum, each) => sum + each.done, 0) - before
  return (done * 1000) / (performance.now() - start)
}

async function main(targets) {
  const opened = await Promise.all(targets.map(open))
  const rates = targets.map(() => [])
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [i, connections] of opened.entries()) {
      const rate = await burst(connections)
      if (round >= 0) rates[i].push(rate)
    }
  }
  console.log(JSON.stringify(rates))
  process.exit() // the connections are still open
}

main(JSON.parse(process.argv[2]))
