'use strict'

// `npm run chaos -- promotions redis|sentinel|cluster|postgres|mysql`: a replica is promoted while the old primary still
// runs with replicas of its own, and members stay on both sides. Each run starts its own servers, promotes once, and
// lets both sides generate IDs. With the safest settings there must be no duplicate. The control has settings with which
// two primaries can both get every acknowledgement, and there must be duplicates: nothing in flakeforge prevents them.

const { setTimeout: sleep } = require('node:timers/promises')
const { openNetwork } = require('../faults/network.js')
const { TcpProxy } = require('../faults/tcp-proxy.js')
const { within } = require('../faults/within.js')
const { LEASE_REFUSALS, endQuietOn } = require('./server.js')
const { WIDE, BATCH } = require('./soak.js')

/** The clocks are those of one machine. */
const LEASE = { group: 'chaos', slots: 2, ttlMs: 8000, skewMs: 3000, layout: WIDE }
const MEMBERS = 2 // on each side: as many as there are slots
const PER_SECOND = 6_000_000
const BEFORE_MS = 3000
const TOGETHER_MS = 25_000 // how long both sides run: several renewals
const LONGEST_JOIN_MS = 60_000
const ROUND_SECONDS = 60
const SAFETY_MS = 100

const task = (url) => ({
  join: url,
  policy: 'window',
  options: { ...LEASE, waitMs: 100_000 },
  call: 'takeAndNext',
  batch: BATCH,
  perSecond: PER_SECOND,
  refusals: LEASE_REFUSALS,
})

/** Members of one side, through one proxy. */
const membersAt = (url) => Array.from({ length: MEMBERS }, () => [task(url)])

const haveIds = (members) =>
  within(LONGEST_JOIN_MS, 'a member made no ID', async () => members.every(({ made }) => made > 0))

/** Starts the servers. Members of the new side reach it once it takes writes. */
async function startRound(place, isSafe) {
  let counts
  const count = (name) => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  const site = await place.start({ isSafe, count })
  const [old, next] = await Promise.all([site.old, site.next].map(({ port, host }) => TcpProxy.open(port, host)))
  next.refuse()
  const grantOn = ({ port }) => endQuietOn({ port, urlAt: site.urlAt }, LEASE)
  await grantOn(old)

  async function outages(run) {
    counts = run.counts
    const [oldMembers, nextMembers] = [run.members.slice(0, MEMBERS), run.members.slice(MEMBERS)]
    await haveIds(oldMembers)
    await sleep(BEFORE_MS)
    await site.promote()
    await sleep(LEASE.ttlMs + LEASE.skewMs + SAFETY_MS) // until the windows that the new primary does not know have ended
    next.accept()
    await grantOn(next)
    await haveIds(nextMembers)
    await site.wake?.()
    await sleep(TOGETHER_MS)
  }

  return {
    members: [old, next].flatMap(({ port }) => membersAt(site.urlAt(port))),
    outages,
    end: () => Promise.all([site.stop(), old.close(), next.close()]),
  }
}

const scenario = (name, place, isSafe) => ({
  name,
  seconds: 0, // as long as a promotion takes
  hangMs: Infinity, // one of the sides has no slot for long
  faults: [],
  start: () => startRound(place, isSafe),
})

/** Whether this machine can cut off others. */
async function hasNamespaces() {
  const network = await openNetwork(1)
  await network.close()
  return network.kind === 'namespaces'
}

async function prepare(name, { seconds }) {
  const place = require(`../servers/promoted/${name}.js`)
  const missing = []
  if (!(await place.want())) missing.push(`${name} is not installed: nothing ran`)
  else if (place.needsNamespaces && !(await hasNamespaces())) missing.push('no network namespaces: nothing ran')
  if (missing.length > 0) return { scenarios: [], missing, end: async () => {} }
  const rounds = Math.max(1, Math.round(seconds / ROUND_SECONDS))
  const scenarios = Array.from({ length: rounds }, () => scenario(`${name}, ${place.safe}`, place, true))
  return { scenarios, control: scenario(`control: ${place.control}`, place, false), missing, end: async () => {} }
}

const COLUMNS = [
  'cut off',
  'frozen then cut',
  'promotions',
  'replicas added',
  'replicas moved',
  'commits killed',
  'counters reset',
]

const PLACES = ['redis', 'sentinel', 'cluster', 'postgres', 'mysql']

const promotions = (name) => ({
  columns: COLUMNS,
  policies: ['window'],
  prepare: (given) => prepare(name, given),
})

module.exports = { PLACES, promotions }
