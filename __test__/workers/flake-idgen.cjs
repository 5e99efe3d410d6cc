// A process that makes IDs with flake-idgen for as long as it is told, in ms, with the worker of its second argument.

const FlakeId = require('flake-idgen')

const [, , ms, worker] = process.argv
const flake = new FlakeId({ worker: Number(worker) })
const lines = []

process.once('message', () => {
  for (const end = Date.now() + Number(ms); Date.now() < end; ) {
    try {
      lines.push(flake.next().readBigUInt64BE())
    } catch {} // the counter of this ms is used up
  }
  process.stdout.write(`${lines.join('\n')}\n`, () => process.disconnect())
})
process.send('ready')
