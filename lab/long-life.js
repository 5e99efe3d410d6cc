'use strict'

// Processes that live long: operations that they repeat thousands of times must leave nothing behind. `node
// lab/long-life.js` runs all of them, `losses=2000` only that one, this often. Memory, file descriptors, and whatever
// keeps the process alive are compared in the middle and at the end. `--plant object` leaves one behind each time (or
// `timer`, `descriptor`), and the command must then fail: a check that cannot see a leak proves nothing.
// Clocks run at 100 times the speed; `npm run memcheck` covers small leaks of native memory.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { setImmediate: turn } = require('node:timers/promises')
const v8 = require('node:v8')

/**
 * libfaketime (Debian: faketime) for programs with threads: it speeds up the clock of the process, and with it that of
 * its store, which is in its memory. Undefined if it is not installed, and under AddressSanitizer, with which it hangs.
 */
const library = /asan/.test(process.env.LD_PRELOAD)
  ? undefined
  : ['x86_64-linux-gnu', 'aarch64-linux-gnu']
      .map((machine) => `/usr/lib/${machine}/faketime/libfaketimeMT.so.1`)
      .find((file) => fs.existsSync(file))
const SPEED = 100
const SLOTS = 64
const GROUP = { slots: SLOTS, ttlMs: 2000, skewMs: 200, durable: true, maxAheadMs: 100 }
const DAY_MS = 86_400_000
const RENEWAL_MS = 10_000 // at the default ttl

/** A third of them is warm-up. */
const SAMPLES = 30
const COLLECTIONS = 4 // memory that a finalizer frees may need another one
/** Per round: V8's smallest object and its place in an array take 64. */
const MOST_BYTES = 24
/** For all rounds together: V8 is never quite still. */
const MOST_BYTES_OF_ALL = 8 << 10
/** An allocator keeps some of its memory, however long a subject runs. */
const MOST_RESIDENT_BYTES = 16 << 20
/** Code that V8 generates and discards would look like a leak. */
const STILL = ['--expose-gc', '--no-opt', '--no-maglev', '--no-sparkplug', '--no-flush-bytecode']

/** A store in this process: records in a map. */
function memoryStore({ recordStore }) {
  const records = new Map()
  const keyOf = (group, name) => `${group}/${name}`
  const identity = { history: 'memory', process: 'memory' }
  return {
    records,
    store: recordStore({
      read: async (group, names) => ({
        now: Date.now(),
        identity,
        values: names.map((name) => records.get(keyOf(group, name)) ?? null),
      }),
      swap: async (group, name, from, to) => {
        if ((records.get(keyOf(group, name)) ?? null) !== from) return false
        records.set(keyOf(group, name), to)
        return true
      },
      names: async (group) => [...records.keys()].filter((key) => key.startsWith(`${group}/`)),
    }),
  }
}

/** The next event of this name. A lease alone does not keep the process alive. */
function happens(flake, event) {
  return new Promise((resolve) => {
    const alive = setInterval(() => {}, DAY_MS)
    const listener = () => {
      clearInterval(alive)
      flake.off(event, listener)
      resolve()
    }
    flake.on(event, listener)
  })
}

/** Each performs its round: an operation that is repeated. */
const SUBJECTS = {
  /** A generator for each request, of some dozens of kinds. */
  async generators({ FlakeId }) {
    let made = 0
    return async () => {
      const id = made++ % 32
      const flake = new FlakeId({ id, maxWaitMs: 60_000, maxAheadMs: Number.POSITIVE_INFINITY })
      flake.nextBigInt()
      if (made % 1000 === 0) await turn() // finalizers run between the turns
    }
  },

  /** A member that joins, generates IDs and leaves. */
  async joins({ FlakeId, lease }) {
    const { store } = memoryStore(lease)
    return async () => {
      const flake = await FlakeId.join(store, GROUP)
      await flake.nextAsync()
      await flake.close()
    }
  },

  /** A member that joins by an address, and so has its own connection. */
  async connections({ FlakeId }) {
    const { startRedis } = await import('../__test__/servers/redis.mjs')
    const server = await startRedis('--appendonly', 'yes', '--appendfsync', 'always')
    const round = async () => {
      const flake = await FlakeId.join(server.url, { slots: SLOTS, durable: true })
      flake.nextBigInt()
      await flake.close()
    }
    return Object.assign(round, { end: () => server.stop() })
  },

  /** A member whose slot belongs to another owner at each renewal: it takes another one. */
  async losses({ FlakeId, lease }) {
    const { store, records } = memoryStore(lease)
    const { edited, newOwner, slotName } = await import('../__test__/support/records.mjs')
    const flake = await FlakeId.join(store, GROUP)
    const round = async () => {
      const name = `default/${slotName(flake.slot)}`
      records.set(name, edited(records.get(name), { owner: newOwner() }))
      await Promise.all([happens(flake, 'lost'), happens(flake, 'attached')])
      await flake.nextAsync()
    }
    return Object.assign(round, { end: () => flake.close() })
  },

  /** A member that holds its slot for long. */
  async renewals({ FlakeId, lease }) {
    const { store } = memoryStore(lease)
    const flake = await FlakeId.join(store, { durable: true })
    const round = async () => {
      await happens(flake, 'renewed')
      await flake.nextAsync()
    }
    return Object.assign(round, { end: () => flake.close() })
  },

  /** The same without pauses, on three servers that are one store. */
  async majority() {
    const { startRedis } = await import('../__test__/servers/redis.mjs')
    const { readJoinOptions } = require('../target/rooms/lib/lease/join-options.js')
    const { openGiven } = require('../target/rooms/lib/stores/open.js')
    const servers = await Promise.all([startRedis(), startRedis(), startRedis()])
    const { store, close } = openGiven(servers.map(({ url }) => url))
    const { config, group, host } = readJoinOptions({ slots: SLOTS })
    await store.create(group, config)
    const owner = 'a'.repeat(32)
    const held = await store.acquire(group, { config, owner, host, joins: true })
    let { hi } = held
    const round = async () => {
      const answer = await store.renew(group, { config, slot: held.slot, owner, hi })
      if (typeof answer === 'string') throw new Error(`the slot is ${answer}`)
      hi = answer.hi
    }
    return Object.assign(round, { end: () => Promise.all([close(), ...servers.map((server) => server.stop())]) })
  },
}

/** How often, at full length. */
const ROUNDS = {
  generators: 1_000_000,
  joins: 10_000,
  connections: 10_000,
  losses: 10_000,
  renewals: DAY_MS / RENEWAL_MS,
  majority: 10_000,
}

/** Its server does not run with another clock. */
const BY_REAL_CLOCK = ['connections', 'majority']

const kept = []
const PLANTS = {
  nothing: () => {},
  object: () => kept.push({}),
  timer: () => setInterval(() => {}, DAY_MS),
  descriptor: () => kept.push(fs.openSync('/dev/null')),
}

/** Objects that survived some collections. The other spaces contain new objects, and those about to be collected. */
const oldBytes = () =>
  v8
    .getHeapSpaceStatistics()
    .filter(({ space_name: name }) => !name.startsWith('new_'))
    .reduce((sum, { space_used_size: size }) => sum + size, 0)

/** The present usage. */
async function inUse() {
  for (let i = 0; i < COLLECTIONS; i++) {
    globalThis.gc()
    await turn()
  }
  const { external, rss } = process.memoryUsage()
  return {
    bytes: oldBytes() + external,
    resident: rss,
    descriptors: fs.readdirSync('/proc/self/fd').length,
    handles: process.getActiveResourcesInfo().length,
  }
}

/** The minimum of these samples: some include objects about to be collected. */
const leastOf = (samples, what) => Math.min(...samples.map((sample) => sample[what]))

/** The usage in the middle third and in the last, and the limit; `between`: the number of rounds between the two. */
function growthOf(samples, between) {
  const third = samples.length / 3
  const bounds = {
    bytes: MOST_BYTES_OF_ALL + MOST_BYTES * between,
    resident: MOST_RESIDENT_BYTES,
    descriptors: 0,
    handles: 0,
  }
  return Object.entries(bounds).map(([what, most]) => {
    const [middle, end] = [samples.slice(third, 2 * third), samples.slice(2 * third)].map((part) => leastOf(part, what))
    return { what, middle, end, most, isTooMuch: end - middle > most }
  })
}

/** Whether anything grows. */
async function live(name, rounds, plant) {
  const root = path.join(__dirname, '..')
  const loaded = { FlakeId: require(root), lease: require(path.join(root, 'dist', 'lease.cjs')) }
  const round = await SUBJECTS[name](loaded)
  const samples = []
  const each = Math.ceil(rounds / SAMPLES)
  for (let i = 0; i < SAMPLES; i++) {
    for (let j = 0; j < each; j++) {
      await round()
      plant()
    }
    samples.push(await inUse())
  }
  await round.end?.()
  const growth = growthOf(samples, (each * SAMPLES) / 3)
  for (const { what, middle, end, most, isTooMuch } of growth) {
    const word = isTooMuch ? 'GROWS' : 'ok   '
    console.log(`${word} ${name}, ${each * SAMPLES} times: ${what} ${middle}, then ${end} (may grow by ${most})`)
  }
  return growth.some(({ isTooMuch }) => isTooMuch)
}

/** Runs a subject in a separate process. Returns whether nothing grew. */
function run(word, plant) {
  const [name, rounds = ROUNDS[name]] = word.split('=')
  const fast = { LD_PRELOAD: library, FAKETIME: `+0 x${SPEED}` }
  const env = { ...process.env, ...(BY_REAL_CLOCK.includes(name) ? {} : fast), LONG_LIFE: plant }
  const args = [...STILL, __filename, name, rounds]
  return spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status === 0
}

function main(args) {
  if (library === undefined) throw new Error('libfaketime is not installed (Debian: faketime)')
  const at = args.indexOf('--plant')
  const [, plant = 'nothing'] = at < 0 ? [] : args.splice(at, 2)
  const words = args.length > 0 ? args : Object.keys(SUBJECTS)
  const isWell = words.map((word) => run(word, plant))
  process.exitCode = isWell.every(Boolean) ? 0 : 1
}

async function child([name, rounds]) {
  const grows = await live(name, Number(rounds), PLANTS[process.env.LONG_LIFE])
  process.exit(grows ? 1 : 0)
}

module.exports = { library }

if (require.main === module) {
  const begin = process.env.LONG_LIFE ? child : main
  begin(process.argv.slice(2))
}
