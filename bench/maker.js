'use strict'

// A process of bench/processes.js. It sends one number when it is done.
//
//   rate FILE         says when it is ready; at a word, makes IDs out of the file for a while: million IDs/s
//   hold STORE N      takes N slots and keeps them
//   join STORE        median ms of join()

const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { FlakeId } = require('..')

// More IDs per millisecond than a process can make: what is measured is the word, not the wait for the clock.
const ROOMY = {
  fields: [
    ['timestamp', 41],
    ['node', 3],
    ['counter', 20],
  ],
}
const MS = 500
const BURST = 1000

async function rate(file) {
  const flake = new FlakeId({ layout: ROOMY, node: 1, shared: file })
  for (let i = 0; i < 50_000; i++) flake.next()
  process.send('ready')
  await once(process, 'message')
  let ids = 0
  const start = performance.now()
  while (performance.now() - start < MS) {
    for (let i = 0; i < BURST; i++) flake.next()
    ids += BURST
  }
  process.send(ids / (performance.now() - start) / 1000, () => process.exit())
}

async function hold(store, count) {
  const held = []
  for (let i = 0; i < Number(count); i++) held.push(await FlakeId.join(store))
  setInterval(() => {}, 1000) // a lease alone does not keep the process alive
  process.send(held.length)
}

async function join(store) {
  const times = []
  for (let i = 0; i < 100; i++) {
    const start = performance.now()
    const flake = await FlakeId.join(store)
    times.push(performance.now() - start)
    flake.next()
    await flake.close()
    await sleep(2) // or the next one would wait for the millisecond after that ID
  }
  process.send(times.sort((a, b) => a - b)[50], () => process.exit())
}

const KINDS = { rate, hold, join }
const [kind, ...args] = process.argv.slice(2)
KINDS[kind](...args)
