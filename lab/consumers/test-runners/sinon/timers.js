// sinon puts its fakes everywhere: even into the modules node:timers and node:perf_hooks, and in place of
// process.nextTick.
//   node sinon/timers.js first|later    is flakeforge loaded before or after the fakes?

const assert = require('node:assert')
const sinon = require('sinon')
const { waits } = require('../waits.js')

async function main(when) {
  if (when === 'first') require('flakeforge')
  const clock = sinon.useFakeTimers({ now: 0 })
  assert.ok(setTimeout.clock && process.nextTick.clock, 'the timers are fakes')
  assert.strictEqual(require('node:timers').setTimeout, setTimeout)
  assert.deepStrictEqual([Date.now(), performance.now()], [0, 0])

  const FlakeId = require('flakeforge')
  for (const [name, wait] of Object.entries(waits)) {
    console.log(name)
    await wait(FlakeId)
  }
  clock.restore()
  console.log('all have ended')
}

main(process.argv[2])
