'use strict'

// A process of lab/bench/processes.js. It sends its measurement when it is done.
//
//   rate FILE         says when it is ready; when told, makes IDs with the file for a while: million IDs/s, see rate.js
//   hold STORE N      takes N slots and keeps them
//   join STORE        median ms of join()

const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { FlakeId } = require('../..')
const { ENDLESS, rates, warmUp } = require('./rate.js')

async function makeIds(file) {
  const flake = new FlakeId({ ...ENDLESS, shared: file })
  const call = () => flake.nextBigInt()
  warmUp(call)
  process.send('ready')
  await once(process, 'message')
  process.send(rates(call), () => process.exit())
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
    await sleep(2) // otherwise the next one would wait for the millisecond after that ID
  }
  process.send(times.sort((a, b) => a - b)[50], () => process.exit())
}

const KINDS = { rate: makeIds, hold, join }
const [kind, ...args] = process.argv.slice(2)
KINDS[kind](...args)
