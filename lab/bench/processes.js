'use strict'

// Many processes on one machine: what a shared cursor costs compared with a private one, alone and with neighbours, and how
// long join() takes. The notes in lab/bench/README.md show that there is no system call per ID.
//
// The cost of neighbours depends on how fast two cores of the machine pass a cache line to each other. So it is measured
// together with threads that only add to one word.

const { once } = require('node:events')
const { fork } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { together } = require('./rate.js')
const { median, ofProcess, printPromises, ROUNDS } = require('./report.js')

const NS = ['next: flakeforge', 'next: shared']
const TAKEN = 1000

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-bench-'))
const maker = (...args) => fork(path.join(__dirname, 'maker-process.js'), args)

/** Million IDs/s that this many processes generate with one file, all at the same time. */
async function rateOf(count, file) {
  const makers = Array.from({ length: count }, () => maker('rate', file))
  await Promise.all(makers.map((child) => once(child, 'message'))) // ready
  const rates = makers.map(async (child) => {
    child.send('go')
    const [bursts] = await once(child, 'message')
    return bursts
  })
  return together(await Promise.all(rates))
}

/** Median ms of join() while another process holds 1,000 slots. */
async function joinMs() {
  const slots = `file:${path.join(folder, 'slots')}`
  const holder = maker('hold', slots, String(TAKEN))
  await once(holder, 'message')
  const joiner = maker('join', slots)
  const [ms] = await once(joiner, 'message')
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  return ms
}

async function run() {
  const ns = NS.map(() => [])
  const alone = []
  const both = []
  const adders = []
  const fourIds = []
  const fourAdds = []
  const joins = []
  for (let round = 1; round <= ROUNDS; round++) {
    process.stderr.write(`processes: round ${round} of ${ROUNDS}\r`)
    for (const [i, name] of NS.entries()) ns[i].push(ofProcess('measure.js', 'call', name))
    const file = path.join(folder, `cursor-${round}`)
    alone.push(await rateOf(1, file))
    both.push(await rateOf(2, file))
    adders.push(ofProcess('threads.js', 'rate', '2', 'add'))
    fourIds.push(ofProcess('threads.js', 'cpu', '4', 'ids'))
    fourAdds.push(ofProcess('threads.js', 'cpu', '4', 'add'))
    joins.push(await joinMs())
  }
  fs.rmSync(folder, { recursive: true, force: true })
  const [own, shared] = ns.map(median)
  console.log(`\nMany processes, medians of ${ROUNDS} rounds\n`)
  console.log(`next() ${own.toFixed(1)} ns, with shared ${shared.toFixed(1)} ns`)
  console.log(`one file: 1 process ${median(alone).toFixed(1)} M IDs/s, 2 ${median(both).toFixed(1)} M IDs/s`)
  console.log(`2 threads that only add to one word: ${median(adders).toFixed(1)} M/s`)
  console.log(`4 threads: ${median(fourIds).toFixed(0)} ns of CPU per ID, ${median(fourAdds).toFixed(0)} per addition`)
  printPromises([
    ['next() with shared / without', () => shared / own, 1.15],
    ['2 processes on one file together / 1 alone', () => median(both) / median(alone), 0.8, 'higher'],
    ['… / what 2 threads add to one word', () => median(both) / median(adders), 0.3, 'higher'],
    [`join(), p50 in ms, ${TAKEN} slots taken`, () => median(joins), 1],
  ])
}

module.exports = { run }
