'use strict'

// Loads the package's JavaScript twice in one thread, as test runners do, in the way that the argument names, and
// prints JSON with what the two copies gave. Needs --expose-gc.

const fs = require('node:fs')
const { createRequire, isBuiltin } = require('node:module')
const path = require('node:path')
const vm = require('node:vm')

const root = path.join(__dirname, '..', '..')
const ENTRY = path.join(root, 'dist', 'index.cjs')

function forget(wanted) {
  for (const file of Object.keys(require.cache)) {
    if (file !== __filename && file.startsWith(root) && wanted(file)) delete require.cache[file]
  }
}

/** Runs a module and what it requires in a context of its own, as Jest does; the addon comes from outside. */
function loadInContext(file, context, modules = new Map()) {
  if (modules.has(file)) return modules.get(file).exports
  const module = { exports: {} }
  modules.set(file, module)
  const outside = createRequire(file)
  const inside = (name) => {
    if (isBuiltin(name)) return require(name)
    const found = outside.resolve(name)
    return found.endsWith('.node') ? outside(found) : loadInContext(found, context, modules)
  }
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${fs.readFileSync(file, 'utf8')}\n})`
  const run = vm.runInContext(wrapped, context, { filename: file })
  run(module.exports, inside, module, file, path.dirname(file))
  return module.exports
}

const { Buffer, performance, setTimeout, clearTimeout, setImmediate, clearImmediate } = globalThis
const newContext = () =>
  vm.createContext({ process, Buffer, performance, setTimeout, clearTimeout, setImmediate, clearImmediate })

const ways = {
  'a cleared cache'() {
    const first = require(ENTRY)
    forget((file) => !file.endsWith('.node'))
    return [first, require(ENTRY)]
  },
  'a cleared cache, the addon too'() {
    const first = require(ENTRY)
    forget(() => true)
    return [first, require(ENTRY)]
  },
  'vm contexts': () => [loadInContext(ENTRY, newContext()), loadInContext(ENTRY, newContext())],
}

const answer = (flake) =>
  new Promise((resolve, reject) => {
    flake.next((error, id) => (error ? reject(error) : resolve(id)))
  })

/** IDs by turns of both copies. */
async function byTurns(flakes, turns) {
  const ids = []
  for (let turn = 0; turn < turns; turn++) {
    for (const flake of flakes) {
      ids.push(flake.nextBigInt(), BigInt(flake.nextString()), flake.next().readBigUInt64BE())
      ids.push(...flake.takeBigInts(5), (await flake.nextAsync()).readBigUInt64BE())
      ids.push((await answer(flake)).readBigUInt64BE())
    }
  }
  return ids
}

function codeOf(call) {
  try {
    call()
    return 'nothing was thrown'
  } catch (error) {
    return error.code ?? error.message
  }
}

const codes = (FlakeId) => [
  codeOf(() => new FlakeId({ worker: 32 })),
  codeOf(() => FlakeId.toBigInt('x')),
  codeOf(() => new FlakeId({ clock: () => -1 }).next()),
]

/** What a copy reads in an ID that it made with a dialect and with a layout of its own, and whether it encodes that again. */
function readBack(FlakeId) {
  const own = new FlakeId.Layout({
    fields: Object.entries({ timestamp: 41, shard: 13, counter: 10 }),
    epoch: 1577836800000,
  })
  const ids = [
    { layout: FlakeId.layouts.sonyflake, machine: 513 },
    { layout: FlakeId.layouts.uniqueid, generator: 3, cluster: 9 },
    { layout: own, shard: 77 },
  ].map((options) => new FlakeId(options))
  return ids.map((flake) => {
    const id = flake.next()
    const parts = flake.decode(id)
    const { machine, mode, generator, cluster, shard, timestamp } = parts
    const isNow = Math.abs(Date.now() - timestamp) < 60_000
    return { machine, mode, generator, cluster, shard, isNow, isSame: flake.layout.encode({ ...parts }).equals(id) }
  })
}

async function main() {
  const warnings = []
  process.on('warning', ({ code }) => warnings.push(code))
  const copies = ways[process.argv[2]]()
  const options = { id: 77, maxWaitMs: 60_000 }
  const ids = await byTurns(
    copies.map((FlakeId) => new FlakeId(options)),
    2000,
  )
  const result = { same: copies[0] === copies[1], codes: copies.map(codes), read: copies.map(readBack), warnings }
  copies.shift() // what the first copy leaves behind is collected; the second must not notice
  forget((file) => !file.endsWith('.node'))
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await new Promise(setImmediate)
  }
  ids.push(...(await byTurns([new copies[0](options)], 100)))
  const ascending = ids.every((id, i) => i === 0 || id > ids[i - 1])
  console.log(JSON.stringify({ ...result, made: ids.length, different: new Set(ids).size, ascending }))
}

main()
