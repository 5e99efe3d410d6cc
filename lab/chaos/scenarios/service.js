'use strict'

// `npm run chaos -- service`: three flakeforge-servers on one Redis, and five clients. Three clients have no store and
// get all IDs from the servers; two are members with `elseFrom`, for which one slot is left, and which get IDs from the
// servers while they have none. Clients and servers are killed and paused, the links between them and to Redis are cut,
// stalled and refused; Redis is restarted, replaced and emptied. startApart() and startMixed() have the other runs.

const { mkdtempSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { NEEDS, canSetClocks } = require('../faults/clock.js')
const faults = require('../faults/member-faults.js')
const { pick, strike } = require('../faults/fault.js')
const { TcpProxy } = require('../faults/tcp-proxy.js')
const { outages } = require('../faults/outages.js')
const { Service } = require('../servers/service.js')
const { makeMembers } = require('./tasks.js')
const { LEASE_REFUSALS, endQuietOn, eventsOn, someOffset } = require('./server.js')

const SERVERS = 3
const REMOTE = 3
const MEMBERS = 2
const GROUP = 'chaos'
/** One slot each for the servers, and one that the members compete for. */
const LEASE = { group: GROUP, slots: SERVERS + 1, ttlMs: 4000, skewMs: 1000 }
const BETWEEN_FAULTS_MS = 3000
const RECOVER_MS = 30_000
const PER_SECOND = 30_000
/** While Redis is down for longer than a window, and then quiet, no IDs can be generated. */
const HANG_MS = 60_000
/** IDs of each client in a run, however short it is. */
const FEWEST_IDS = 2_000

const REFUSALS = [...LEASE_REFUSALS, 'ERR_FLAKE_REMOTE', 'ERR_FLAKE_CONFIG_MISMATCH']
/** Each call; the client of servers has no takeBigInts(). */
const CALLS = ['nextAsync', 'take', 'nextCallback', 'nextBigInt', 'takeAsync']
/** Short times, so that a client switches to the next server several times in a run. */
const REMOTE_OPTIONS = { timeoutMs: 500, waitMs: 1500, validityMs: 5000 }

/** The tasks of the clients. `urls` are the servers, `stores` the members' own links to Redis. */
const clients = (urls, stores) =>
  makeMembers(REMOTE + MEMBERS, (i) => {
    const common = { call: CALLS[i], perSecond: PER_SECOND, refusals: REFUSALS }
    if (i < REMOTE) return { ...common, policy: 'remote', join: urls, options: { name: GROUP, ...REMOTE_OPTIONS } }
    const elseFrom = { urls, ...REMOTE_OPTIONS }
    const options = { ...LEASE, waitMs: 200 * (i - REMOTE), host: `client ${i}`, elseFrom }
    return { ...common, join: stores[i - REMOTE], options }
  })

/** One fault after the other; the first are a kill and a pause, however short the run is. */
async function disturb(service, { counts, until }) {
  const first = faults.service.slice(0, 2)
  for (;;) {
    await sleep(Math.random() * BETWEEN_FAULTS_MS)
    const fault = first.shift() ?? (performance.now() < until ? pick(faults.service) : undefined)
    if (fault === undefined) return
    await strike(fault, { counts, victim: service })
  }
}

/** The links between the clients and one server fail. */
async function disturbFront(proxy, { counts, until }) {
  for (;;) {
    await sleep(Math.random() * BETWEEN_FAULTS_MS)
    if (performance.now() >= until) return
    await strike(pick(faults.connection), { counts, victim: { proxy } })
  }
}

/** A configuration that serves the group with these options. */
function configOf(folder, options) {
  const file = path.join(mkdtempSync(path.join(folder, 'config-')), 'server.json')
  writeFileSync(file, JSON.stringify({ names: { [GROUP]: options } }))
  return file
}

const urlOf = (port) => `http://127.0.0.1:${port}`

/** Starts everything. Returns the scenario, the control, what is missing on this machine, and how to end everything. */
async function prepare({ folders, seconds }) {
  const proxies = [] // to Redis
  const server = await require('../servers/redis.js').start(eventsOn(proxies))
  if (server === undefined)
    return { scenarios: [], missing: ['redis is not installed: nothing ran'], end: async () => {} }
  for (let i = 0; i < SERVERS + MEMBERS; i++) proxies.push(await TcpProxy.open(server.port))
  await endQuietOn(server, LEASE)
  const troubles = []
  const offsetMs = canSetClocks ? someOffset : undefined
  const config = configOf(folders.disk, LEASE)
  const services = proxies.slice(0, SERVERS).map(
    (proxy, i) =>
      new Service({
        name: `server ${i + 1}`,
        proxy,
        offsetMs,
        onTrouble: (trouble) => troubles.push(trouble),
        args: ['--config', config, '--store', server.urlAt(proxy.port), '--wait-ms', '300'],
      }),
  )
  await Promise.all(services.map((service) => service.start()))
  const fronts = await Promise.all(services.map(({ port }) => TcpProxy.open(port)))
  const apart = await startApart(folders.disk, troubles)
  const mixed = await Promise.all([
    startMixed('two stores', folders.disk, [NARROW, NARROW], troubles),
    startMixed('two layouts', folders.disk, [NARROW, { ...NARROW, layout: 'flake' }], troubles),
  ])
  const own = proxies.slice(SERVERS)
  const scenario = {
    name: 'service, redis',
    members: clients(
      fronts.map(({ port }) => urlOf(port)),
      own.map(({ port }) => server.urlAt(port)),
    ),
    faults: faults.leased,
    proxies: [...fronts, ...own],
    isInOrder: false, // IDs of several servers are unordered among each other
    betweenMs: BETWEEN_FAULTS_MS,
    recoverMs: RECOVER_MS,
    hangMs: HANG_MS,
    isEnough: ({ members, troubles }) => troubles.length > 0 || members.every(({ made }) => made > FEWEST_IDS),
    outages: (run) => allOutages({ server, services, fronts, troubles, seconds }, run),
  }
  const end = () =>
    Promise.all([
      server.stop(),
      ...[...services, ...apart.services, ...mixed.flatMap(({ services }) => services)].map((service) =>
        service.kill(),
      ),
      ...[...proxies, ...fronts].map((proxy) => proxy.close()),
    ])
  const missing = canSetClocks ? [] : [`all clocks agreed: to set them needs ${NEEDS}`]
  return { scenarios: [scenario, ...mixed.map(({ scenario }) => scenario)], control: apart.control, missing, end }
}

async function allOutages({ server, services, fronts, troubles, seconds }, run) {
  const plan = { seconds, lastingMs: LEASE.ttlMs + LEASE.skewMs, endQuiet: () => endQuietOn(server, LEASE) }
  await Promise.all([
    outages(server, run, plan),
    ...services.map((service) => disturb(service, run)),
    ...fronts.map((proxy) => disturbFront(proxy, run)),
  ])
  run.troubles.push(...troubles)
}

/** So few IDs in a tick that each is used up, by either server. */
const NARROW = { slots: 1, layout: 'sonyflake' }
/** IDs of each client: enough that the servers have met in a tick. */
const ENOUGH_BYTES = 5_000 * 8

/**
 * The negative control: servers that share no store, with a client each. A harness that finds no duplicate there would
 * never find one.
 */
async function startApart(folder, troubles) {
  const config = configOf(folder, NARROW)
  const services = ['first', 'second'].map((name) => {
    const store = `file:${mkdtempSync(path.join(folder, 'apart-'))}`
    const onTrouble = (trouble) => troubles.push(trouble)
    return new Service({ name: `${name} server apart`, args: ['--config', config, '--store', store], onTrouble })
  })
  await Promise.all(services.map((service) => service.start()))
  const members = makeMembers(services.length, (i) => ({
    call: 'takeAsync',
    perSecond: PER_SECOND,
    refusals: REFUSALS,
    policy: 'remote',
    join: [urlOf(services[i].port)],
    options: { name: GROUP },
  }))
  const isEnough = ({ members, troubles }) => troubles.length > 0 || members.every(({ made }) => made > ENOUGH_BYTES)
  return { services, control: { name: 'control: apart', members, faults: [], isInOrder: false, isEnough } }
}

const MIXED_SECONDS = 8
const BEHIND_MS = -500
const REFUSING_MS = 5_000

/** Resolves once a client has generated more IDs, or none: it keeps rejecting a server of another group. */
async function makesIds(client) {
  const enough = client.made + FEWEST_IDS
  for (const end = performance.now() + REFUSING_MS; client.made < enough && performance.now() < end; ) await sleep(20)
}

/**
 * A client of two servers that must not be mixed: of two stores, and of two layouts. They are killed in turns, so that
 * the client reaches the other one, whose clock is behind. All its IDs must ascend: those of its first server do.
 */
async function startMixed(name, folder, options, troubles) {
  const services = options.map((each, i) => {
    const store = `file:${mkdtempSync(path.join(folder, 'mixed-'))}`
    return new Service({
      name: `${name}, server ${i + 1}`,
      onTrouble: (trouble) => troubles.push(trouble),
      offsetMs: () => (canSetClocks ? i * BEHIND_MS : 0),
      args: ['--config', configOf(folder, each), '--store', store],
    })
  })
  await Promise.all(services.map((service) => service.start()))
  const [kill] = faults.service
  const scenario = {
    name: `service, ${name}`,
    seconds: MIXED_SECONDS,
    members: makeMembers(1, () => ({
      call: 'takeAsync',
      perSecond: PER_SECOND,
      refusals: REFUSALS,
      policy: 'remote',
      join: services.map(({ port }) => urlOf(port)),
      options: { name: GROUP, ...REMOTE_OPTIONS },
    })),
    faults: [], // a client that starts again may start with the other server
    hangMs: HANG_MS,
    isEnough: ({ members, troubles }) => troubles.length > 0 || members.every(({ made }) => made > FEWEST_IDS),
    outages: async ({ counts, until, members: [client] }) => {
      for (let i = 0; i < 4 || performance.now() < until; i++) {
        await makesIds(client)
        await strike(kill, { counts, victim: services[i % 2] })
      }
    },
  }
  return { services, scenario }
}

const columns = ['kills', 'pauses', 'hand-overs', 'cuts', 'stalls', 'refusals', 'restarts', 'failovers', 'FLUSHALL']

module.exports = {
  clients,
  columns,
  policies: ['window'],
  prepare,
  startApart,
  startMixed,
  full: { seconds: 120, faults: 200, ids: 2_000_000 },
}
