'use strict'

// Machines that can be cut off from each other, but not from the members, and reach each other slowly. Each has its own
// clock. With root on Linux each is a network namespace at a bridge, and traffic of an isolated one is silently lost,
// as between machines. Elsewhere others connect through a TCP proxy, which ends connections. No namespace and no bridge
// is left behind.

const { execFile, execFileSync } = require('node:child_process')
const os = require('node:os')
const { promisify } = require('node:util')
const { Clock, canSetClocks, offsetWithin } = require('./clock.js')
const { strike } = require('./fault.js')
const { stepClock } = require('./member-faults.js')
const { TcpProxy } = require('./tcp-proxy.js')

const SUBNETS = Array.from({ length: 256 }, (_, i) => `198.18.${i}`) // for tests of networks: no real host has an address there

/** So two clocks are up to twice as far apart. */
const FURTHEST_CLOCK_MS = 2000
const BETWEEN_STEPS_MS = 4000

/** Late and with losses, by netem; where the kernel has none, so narrow that excess traffic suffers both. */
const SLOW_LINKS = ['netem delay 500ms 300ms loss 3%', 'tbf rate 40kbit burst 1600 limit 6000']

const run = (program, line) => promisify(execFile)(program, line.split(' '))
const ip = (line) => run('ip', line)

/** All existing namespaces, links and bridges, removed from the last to the first when the process ends early. */
const present = new Set()
process.once('exit', () => {
  for (const line of [...present].reverse()) execFileSync('ip', line.split(' '))
})

/** Creates what the second line removes. */
async function make(line, removal) {
  await ip(line)
  present.add(removal)
}

/** With the first kind of slow link that the kernel supports. */
async function makeSlow(device) {
  const [link, next] = SLOW_LINKS
  try {
    await run('tc', `qdisc replace dev ${device} root ${link}`)
  } catch (error) {
    if (next === undefined) throw error
    console.warn(`\n!!! No netem in this kernel: slow links are narrow ones, by ${next} !!!\n`)
    SLOW_LINKS.shift()
    await makeSlow(device)
  }
}

async function remove(removal) {
  if (present.delete(removal)) await ip(removal)
}

/**
 * A machine: `host` is its address for members, `inside(command)` runs a program there, which needs the variables
 * `environment` to have the machine's clock, `open(port)` returns the address of a port for other machines. Between
 * `cutOff()` and `heal()` it does not reach them, nor they it. Between `slowDown()` and `speedUp()` its messages to
 * them arrive late.
 */
class Machine {
  #clock = new Clock()
  host = '127.0.0.1'

  get environment() {
    return this.#clock.environment
  }

  setClock() {
    this.#clock.set(offsetWithin(FURTHEST_CLOCK_MS))
  }
}

class Namespace extends Machine {
  #name
  #others

  static async open(name, host, bridge, others) {
    const machine = new Namespace()
    Object.assign(machine, { host })
    machine.#name = name
    machine.#others = others
    await make(`netns add ${name}`, `netns del ${name}`)
    await make(`link add ${name} type veth peer name eth0 netns ${name}`, `link del ${name}`)
    await ip(`link set ${name} master ${bridge} up`)
    await ip(`-n ${name} addr add ${host}/24 dev eth0`)
    for (const device of ['eth0', 'lo']) await ip(`-n ${name} link set ${device} up`)
    others.push(machine)
    return machine
  }

  inside(command) {
    return ['ip', 'netns', 'exec', this.#name, ...command]
  }

  async open(port) {
    return { host: this.host, port }
  }

  /** Both ways: otherwise a primary would still receive messages of a replica that no longer receives its own. */
  cutOff() {
    return this.#route('add')
  }

  heal() {
    return this.#route('del')
  }

  /** On the links into the others, whatever the sender. */
  async slowDown() {
    for (const other of this.#elsewhere) await makeSlow(other.#name)
  }

  async speedUp() {
    for (const other of this.#elsewhere) await run('tc', `qdisc del dev ${other.#name} root`)
  }

  get #elsewhere() {
    return this.#others.filter((each) => each !== this)
  }

  async #route(change) {
    for (const other of this.#elsewhere) {
      await ip(`-n ${this.#name} route ${change} blackhole ${other.host}/32`)
      await ip(`-n ${other.#name} route ${change} blackhole ${this.host}/32`)
    }
  }

  /**
   * The kernel removes the link of a namespace some time after it. The next network has the same names, so we remove it
   * first.
   */
  async close() {
    await remove(`link del ${this.#name}`)
    await remove(`netns del ${this.#name}`)
  }
}

/** The same without namespaces. Connections that it opens itself still work while it is cut off. */
class Doors extends Machine {
  #doors = []

  inside(command) {
    return command
  }

  async open(port) {
    const door = await TcpProxy.open(port)
    this.#doors.push(door)
    return { host: this.host, port: door.port }
  }

  async cutOff() {
    for (const door of this.#doors) door.refuse()
  }

  async heal() {
    for (const door of this.#doors) door.accept()
  }

  async slowDown() {
    for (const door of this.#doors) door.stall()
  }

  async speedUp() {
    for (const door of this.#doors) door.flow()
  }

  async close() {
    await Promise.all(this.#doors.map((door) => door.close()))
  }
}

/** This many machines, and how to end them all once nothing runs there any more. */
class Network {
  #end

  /** @param {'namespaces' | 'proxies'} kind what cuts machines off */
  constructor(kind, machines, end = () => {}) {
    this.kind = kind
    this.machines = machines
    this.#end = end
    if (canSetClocks) for (const machine of machines) machine.setClock()
  }

  /** Lets one clock after the other step, for this long. */
  async whileClocksStep(counts, task) {
    const anyMachine = () => this.machines[Math.floor(Math.random() * this.machines.length)]
    const step = () => strike(stepClock, { counts, victim: anyMachine() })
    const timer = canSetClocks ? setInterval(step, BETWEEN_STEPS_MS) : undefined
    try {
      await task()
    } finally {
      clearInterval(timer)
    }
  }

  async close() {
    await Promise.all(this.machines.map((machine) => machine.close()))
    await this.#end()
  }
}

async function openNetwork(count) {
  const name = `ff${process.pid}`
  const bridge = `link del ${name}`
  try {
    await make(`link add ${name} type bridge`, bridge)
  } catch {
    console.warn('\n!!! No network namespaces, which need root on Linux: proxies end connections instead !!!\n')
    return new Network(
      'proxies',
      Array.from({ length: count }, () => new Doors()),
    )
  }
  const taken = Object.values(os.networkInterfaces()).flat()
  const subnet = SUBNETS.find((each) => !taken.some(({ address }) => address.startsWith(`${each}.`)))
  await ip(`addr add ${subnet}.254/24 dev ${name}`)
  await ip(`link set ${name} up`)
  const machines = []
  for (let i = 1; i <= count; i++) await Namespace.open(`${name}n${i}`, `${subnet}.${i}`, name, machines)
  return new Network('namespaces', machines, () => remove(bridge))
}

module.exports = { openNetwork }
