// Only an object's own properties count as options, whatever a program or an attack has put on Object.prototype.

import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { refuseUnknown } from '../../target/rooms/lib/base/check.js'

const here = path.join(import.meta.dirname, '..')

test('no call obeys an option on Object.prototype', async (t) => {
  t.timeout(300_000)
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(here, 'workers', 'polluted.cjs')])
  const { count, differing } = JSON.parse(stdout)
  t.deepEqual(differing.slice(0, 10), [])
  t.true(count > 500, `${count} combinations`)
})

/**
 * Options of all calls, what the addon reads and answers, and what our own objects have. Without `signal`: with that one,
 * Node.js itself can load no module.
 */
const NAMES =
  `layout epoch seqMask counterStart nodeOffset maxAheadMs maxWaitMs prefetch idOffset nodes mode id clock shared
  datacenter worker node group slots ttlMs skewMs durable waitMs host elseFrom name validityMs timeoutMs token fetch
  urls tickMs fields count block init tweak prefix timestamp date tick counter spec tickNs names isStartRandom ownClock scale
  epochMs counterBits theirs ours path why type owner slot hi lo last position lineage look clockStepMs retryAt packing mark
  lease options native cursor`.split(/\s+/)

test('nothing that is made once and kept obeys it either', async (t) => {
  t.timeout(600_000)
  const outcomes = async (...args) => {
    const program = path.join(here, 'workers', 'polluted.cjs')
    return JSON.parse((await promisify(execFile)(process.execPath, [program, 'first', ...args])).stdout)
  }
  const right = await outcomes()
  const forms = (name, i) => [
    [name, 'getter'],
    [name, ['number', 'text', 'function'][i % 3]],
  ]
  // Several names at once, because most of the time is the start of a process. Names of one process have one form each.
  const waiting = [0, 1].flatMap((which) => inGroups(NAMES.map((name, i) => forms(name, i)[which])))
  const work = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      t.deepEqual(await outcomes(...next.flat()), right, next.join('; '))
  }
  await Promise.all([work(), work(), work()])
})

/** Groups of eight. */
const inGroups = (list) => Array.from({ length: Math.ceil(list.length / 8) }, (_, i) => list.slice(i * 8, i * 8 + 8))

const PARTS = ['base', 'core', 'client', 'leases', 'meters']

test('import and require load while Object.prototype has non-functions and names of parts', async (t) => {
  const pollute = `for (const value of [7, {}, null]) Object.prototype['polluted' + value] = value;
    for (const part of ${JSON.stringify(PARTS)}) Object.prototype[part] = {};`
  const dist = path.join(here, '..', 'dist')
  for (const load of [
    `const FlakeId = require(${JSON.stringify(path.join(dist, 'index.cjs'))}); console.log(new FlakeId().next().length)`,
    `import(${JSON.stringify(path.join(dist, 'index.mjs'))}).then(({ FlakeId }) => console.log(new FlakeId().next().length))`,
  ]) {
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', pollute + load])
    t.is(stdout, '8\n')
  }
})

test('an inherited option is rejected, not ignored', (t) => {
  class Options {
    get size() {
      return 3
    }
  }
  for (const given of [new Options(), Object.assign(new Options(), { name: 'a' }), Object.create({ size: 3 })])
    t.throws(() => refuseUnknown(given, ['name', 'size']), { code: 'ERR_FLAKE_OPTION' })
  t.is(refuseUnknown({ size: 3 }, ['size']).size, 3)
  t.is(refuseUnknown(Object.assign(Object.create(null), { size: 3 }), ['size']).size, 3)
})
