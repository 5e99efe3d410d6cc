'use strict'

// `npm run chaos -- redis|postgres|mysql|etcd|sentinel|cluster|standby|replication|etcd3|kubernetes|quorum3|quorum5`: processes that share the
// slots of one group on a real server. Each has its own proxy to the server and its own clock. With the policy
// `deadline`, slots are leased in the usual way instead: this is the negative control, in which there must be
// duplicates. Servers that elect their own leader have another control: a setting that the docs call unsafe.

const { setTimeout: sleep } = require('node:timers/promises')
const { openGiven } = require('../../../target/rooms/lib/stores/open.js')
const { NEEDS, canSetClocks, offsetWithin } = require('../faults/clock.js')
const faults = require('../faults/member-faults.js')
const { TcpProxy } = require('../faults/tcp-proxy.js')
const { makeMembers, REFUSALS } = require('./tasks.js')
const { outages } = require('../faults/outages.js')
const { endQuiet } = require('../faults/end-quiet.js')

const MEMBERS = 6
const FURTHEST_CLOCK = 0.7 // of what the group allows
const BETWEEN_FAULTS_MS = 3000 // the slot of a killed holder is free after the ttl: with more faults, no member would have one
const LONGEST_AWAY_MS = 5000
const RECOVER_MS = 30_000
const BRIEF_SECONDS = 30
const PER_SECOND = 150_000
const LEASE = { group: 'chaos', slots: 3, ttlMs: 4000, skewMs: 1000 }

/** The store fails, is slow or has no free slot; or an answer was so late that it looks like a wrong clock. */
const LEASE_REFUSALS = [
  ...REFUSALS,
  'ERR_FLAKE_LEASE_EXPIRED',
  'ERR_FLAKE_DETACHED',
  'ERR_FLAKE_EXHAUSTED',
  'ERR_FLAKE_QUIET',
  'ERR_FLAKE_STORE',
  'ERR_FLAKE_CLOCK_SKEW',
]

/** Some members run ahead of the clock, some prefetch their IDs: neither may reach past the window. */
const generatorOptions = (i) => ({ maxAheadMs: i % 3 === 1 ? 400 : 0, prefetch: i % 4 === 3 })

const someOffset = ({ skewMs } = LEASE) => offsetWithin(FURTHEST_CLOCK * skewMs)

/**
 * Creates the group if it is missing, and lets it grant slots. createGroup() alone is not enough for a new group: on a
 * slow machine its reads are more than a second apart, and then the group is quiet for a minute. The client is new
 * because another server may lead now.
 */
async function endQuietOn(server, lease) {
  const { store, close } = openGiven(server.urlAt(server.port))
  try {
    await endQuiet(store, lease)
  } finally {
    await close()
  }
}

/** How member `i` reaches a server: its settings, and the proxy on its way. */
async function doorTo(server, i, policy) {
  if (server.doorOf !== undefined) return server.doorOf(i)
  const proxy = await TcpProxy.open(server.port)
  return { task: { join: server.urlAt(proxy.port), policy }, proxy }
}

/** The generator options of member `i`. */
const taskOf = (i, door, { lease, task }) => ({
  ...door.task,
  options: { ...lease, ...generatorOptions(i), waitMs: 100_000, host: `host ${i}` },
  perSecond: PER_SECOND,
  burstMs: i % 2 === 0 ? 0 : undefined, // some in nearly every ms, so no duplicate is missed; some in bursts
  refusals: LEASE_REFUSALS,
  ...task,
})

/** One fault of several servers takes half a minute: in a brief run there is time for one of them. */
const faultsFor = ({ faults, control }, { seconds }) =>
  control !== undefined && seconds < BRIEF_SECONDS ? [faults[Math.floor(Math.random() * faults.length)]] : faults

/** The scenario on a running server; `doors` are the members'. */
function scenarioOn(server, doors, given) {
  const { lease } = given
  return {
    members: makeMembers(MEMBERS, (i) => taskOf(i, doors[i], given)),
    faults: canSetClocks ? [...faults.leased, faults.stepClock] : faults.leased,
    offsetMs: canSetClocks ? () => someOffset(lease) : undefined,
    proxies: doors.map(({ proxy }) => proxy),
    betweenMs: server.betweenMs ?? BETWEEN_FAULTS_MS,
    firstIdMs: server.betweenMs,
    recoverMs: RECOVER_MS,
    hangMs: server.reaches && RECOVER_MS,
    isHindered: server.reaches && ((member, i) => member.isStepping || server.isLost || !server.reaches(i)),
    outages(run) {
      const all = () => allOutages(server, faultsFor(server, given), run, given)
      return server.network === undefined ? all() : server.network.whileClocksStep(run.counts, all)
    },
  }
}

async function allOutages(server, faults, run, { seconds, lease }) {
  const lastingMs = server.losesNothing ? 0 : lease.ttlMs + lease.skewMs
  const plan = { seconds, lastingMs, endQuiet: () => endQuietOn(server, lease) }
  await outages({ faults }, run, plan)
  if (server.settle === undefined) return
  await server.settle() // by a promotion, which is one more loss
  await sleep(lastingMs)
  await plan.endQuiet()
}

/** The same on a server that is set up as the docs warn against. Members stay alive: each stays on its side. */
function controlOn(server, scenario, lease) {
  const { name, faults, prepare } = server.control
  const unsafe = async (run) => {
    await prepare()
    await allOutages(server, faults, run, { seconds: 0, lease })
  }
  return { ...scenario, name: `control: ${name}`, faults: [], outages: unsafe }
}

/** A server's calls when the members have to use another one, and before it fails. */
const eventsOn = (proxies) => ({
  lead(port) {
    for (const proxy of proxies) proxy.pointTo(port)
  },
  down() {
    for (const proxy of proxies) if (Math.random() < 0.5) keepAway(proxy)
  },
})

/** This member learns late, or never, that the server has lost something, and uses its whole window meanwhile. */
async function keepAway(proxy) {
  proxy.refuse()
  await sleep(Math.random() * LONGEST_AWAY_MS, undefined, { ref: false })
  proxy.accept()
}

/**
 * Starts the server. Returns the scenario, its separate control if it has one, what is missing on this machine, and how
 * to end the server.
 */
async function prepareOn(start, { name, ...given }) {
  const proxies = []
  const server = await start(eventsOn(proxies))
  if (server === undefined)
    return { scenarios: [], missing: [`${name} is not installed: nothing ran`], end: async () => {} }
  const lease = { ...LEASE, ...server.lease, ...given.lease }
  const task = { ...server.task, ...given.task }
  const doors = []
  for (let i = 0; i < MEMBERS; i++) doors.push(await doorTo(server, i, given.policy))
  proxies.push(...doors.map(({ proxy }) => proxy))
  await endQuietOn(server, lease)
  const missing = canSetClocks ? [] : [`all clocks agreed: to set them needs ${NEEDS}`]
  const end = () => Promise.all([server.stop(), ...proxies.map((proxy) => proxy.close())])
  const scenario = {
    name: `${name}, ${server.network?.kind ?? given.policy}`,
    ...scenarioOn(server, doors, { ...given, lease, task }),
  }
  const control = given.seconds < BRIEF_SECONDS ? undefined : server.control && controlOn(server, scenario, lease)
  return { scenarios: [scenario], control, missing, end }
}

/** What `--seconds` or more must reach to count as a full run. */
const FULL = { seconds: 120, faults: 100, ids: 10_000_000 }
/** Members wait while several servers elect a leader. */
const FULL_TOPOLOGY = { ...FULL, ids: 1_000_000 }

const STANDBYS = ['failovers', 'failovers behind', 'split brains', 'frozen then cut', 'cut then frozen']

/** The names under which the faults of each server are counted, besides restarts. */
const OUTAGES = {
  redis: ['failovers', 'FLUSHALL'],
  postgres: ['failovers'],
  mysql: ['failovers'],
  etcd: ['wiped'],
  sentinel: [
    'switch-overs',
    'failovers',
    'failovers behind',
    'failbacks',
    'frozen',
    'frozen then cut',
    'cut then frozen',
    'split brains',
  ],
  cluster: ['migrations', 'switch-overs', 'failovers', 'frozen', 'frozen then cut', 'cut then frozen', 'split brains'],
  standby: [...STANDBYS, 'cancelled commits', 'terminated commits'],
  replication: [...STANDBYS, 'killed commits'],
  etcd3: ['two lost', 'cut off', 'frozen', 'slow links', 'slow disks', 'compactions'],
  kubernetes: ['etcd restarts', 'frozen', 'etcd frozen', 'wiped'],
  quorum3: ['frozen', 'cut off', 'wiped', 'replaced', 'majority wiped'],
  quorum5: [
    ...['restarts 2', 'frozen', 'frozen 2', 'cut off', 'cut off 2', 'wiped', 'wiped 2', 'replaced', 'replaced 2'],
    'majority wiped',
  ],
}

/** Several servers, which have a separate control or can have none. */
const TOPOLOGIES = ['sentinel', 'cluster', 'standby', 'replication', 'etcd3', 'kubernetes', 'quorum3', 'quorum5']

const columnsOf = (name) => [
  'kills',
  'pauses',
  'hand-overs',
  'cuts',
  'stalls',
  'refusals',
  'clock steps',
  'restarts',
  ...OUTAGES[name],
]

const target = (name) => ({
  columns: columnsOf(name),
  policies: TOPOLOGIES.includes(name) ? ['window'] : ['window', 'deadline'],
  prepare: (given) => prepareOn(require(`../servers/${name}.js`).start, { name, ...given }),
  full: TOPOLOGIES.includes(name) ? FULL_TOPOLOGY : FULL,
})

module.exports = {
  LEASE,
  LEASE_REFUSALS,
  MEMBERS,
  TOPOLOGIES,
  columnsOf,
  endQuietOn,
  eventsOn,
  prepareOn,
  someOffset,
  target,
}
