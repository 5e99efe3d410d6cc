'use strict'

// `npm run chaos -- redis|postgres|mysql|etcd`: processes that share the slots of one group on a real server. Each has its own
// proxy to the server and its own clock. With the policy `deadline`, slots are leased in the usual way instead: this is the
// negative control, in which there must be duplicates.

const { setTimeout: sleep } = require('node:timers/promises')
const FlakeId = require('flakeforge')
const { openGiven } = require('../../../target/rooms/lib/lease/stores/open.js')
const clock = require('../faults/clock.js')
const faults = require('../faults/member-faults.js')
const { TcpProxy } = require('../faults/tcp-proxy.js')
const { makeMembers, REFUSALS } = require('./tasks.js')
const { outages } = require('../faults/outages.js')
const { endQuiet } = require('../faults/end-quiet.js')

const MEMBERS = 6
const FURTHEST_CLOCK_MS = 700
const BETWEEN_FAULTS_MS = 3000 // the slot of a killed holder is free after the ttl: with more faults, nobody would have one
const LONGEST_AWAY_MS = 5000
const RECOVER_MS = 30_000
const PER_SECOND = 150_000
const LEASE = { group: 'chaos', slots: 3, ttlMs: 4000, skewMs: 1000 }

/** The store fails, is slow or has no free slot; or an answer came so late that it looks like a wrong clock. */
const LEASE_REFUSALS = [
  ...REFUSALS,
  'ERR_FLAKE_LEASE_EXPIRED',
  'ERR_FLAKE_DETACHED',
  'ERR_FLAKE_EXHAUSTED',
  'ERR_FLAKE_QUIET',
  'ERR_FLAKE_STORE',
  'ERR_FLAKE_CLOCK_SKEW',
]

/** Some members run ahead of the clock, some take their IDs in advance: neither may reach past the window. */
const generatorOptions = (i) => ({ maxAheadMs: i % 3 === 1 ? 400 : 0, prefetch: i % 4 === 3 })

/** Mostly very wrong: clocks that nearly agree prove little. */
const someOffset = () => Math.round((Math.random() < 0.5 ? -1 : 1) * Math.sqrt(Math.random()) * FURTHEST_CLOCK_MS)

/**
 * Over a client of its own: the server that leads now may be another one than before. Members may not have noticed yet
 * what it has lost. createGroup() does; otherwise the quiet period would begin after it was ended.
 */
async function endQuietOn(server, lease) {
  const { store, close } = openGiven(server.urlAt(server.port))
  try {
    await FlakeId.createGroup(store, lease)
    await endQuiet(store.records, lease.group)
  } finally {
    await close()
  }
}

/** What member `i` makes IDs with, through its proxy at this port. */
const taskOf = (i, url, { policy, lease, task }) => ({
  join: url,
  policy,
  options: { ...lease, ...generatorOptions(i), waitMs: 100_000, host: `host ${i}` },
  perSecond: PER_SECOND,
  burstMs: i % 2 === 0 ? 0 : undefined, // some in nearly every ms, so no duplicate is missed; some in bursts
  refusals: LEASE_REFUSALS,
  ...task,
})

/** The scenario on a running server; `proxies` are the members'. */
function scenarioOn(server, proxies, { seconds, ...given }) {
  const { lease } = given
  const plan = { seconds, lastingMs: lease.ttlMs + lease.skewMs, endQuiet: () => endQuietOn(server, lease) }
  return {
    members: makeMembers(MEMBERS, (i) => taskOf(i, server.urlAt(proxies[i].port), given)),
    faults: faults.leased,
    offsetMs: clock.library === undefined ? undefined : someOffset,
    proxies,
    betweenMs: BETWEEN_FAULTS_MS,
    recoverMs: RECOVER_MS,
    outages: (run) => outages(server, run, plan),
  }
}

/** What a server tells when the members have to use another one, and before it fails. */
const eventsOn = (proxies) => ({
  lead(port) {
    for (const proxy of proxies) proxy.pointTo(port)
  },
  down() {
    for (const proxy of proxies) if (Math.random() < 0.5) keepAway(proxy)
  },
})

/** This one's member learns late, or never, that the server has lost something, and uses its whole window meanwhile. */
async function keepAway(proxy) {
  proxy.refuse()
  await sleep(Math.random() * LONGEST_AWAY_MS, undefined, { ref: false })
  proxy.accept()
}

/** Starts the server. Returns the scenario, what is missing on this machine, and how to end the server. */
async function prepareOn(start, { name, lease = LEASE, ...given }) {
  const proxies = []
  const server = await start(eventsOn(proxies))
  if (server === undefined)
    return { scenarios: [], missing: [`${name} is not installed: nothing ran`], end: async () => {} }
  for (let i = 0; i < MEMBERS; i++) proxies.push(await TcpProxy.open(server.port))
  await FlakeId.createGroup(server.urlAt(server.port), lease)
  const missing = clock.library === undefined ? ['no libfaketime (Debian: faketime): all clocks agreed'] : []
  const end = () => Promise.all([server.stop(), ...proxies.map((proxy) => proxy.close())])
  return {
    scenarios: [{ name: `${name}, ${given.policy}`, ...scenarioOn(server, proxies, { lease, ...given }) }],
    missing,
    end,
  }
}

/** What `--seconds` or more must reach to count as a full run. */
const FULL = { seconds: 120, faults: 100, ids: 10_000_000 }

/** The names under which the faults of each server are counted, besides restarts. */
const OUTAGES = { redis: ['failovers', 'FLUSHALL'], postgres: ['failovers'], mysql: ['failovers'], etcd: ['wiped'] }

const columnsOf = (name) => [
  'kills',
  'pauses',
  'hand-overs',
  'cuts',
  'stalls',
  'refusals',
  'restarts',
  ...OUTAGES[name],
]

const target = (name) => ({
  columns: columnsOf(name),
  policies: ['window', 'deadline'],
  prepare: (given) => prepareOn(require(`../servers/${name}.js`).start, { name, ...given }),
  full: FULL,
})

module.exports = { LEASE, LEASE_REFUSALS, MEMBERS, columnsOf, endQuietOn, eventsOn, prepareOn, someOffset, target }
