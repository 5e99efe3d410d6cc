'use strict'

// Machines that can be cut off from each other, but not from the members. With root on Linux each is a network namespace at a
// bridge, and what is cut off is silently lost, as it is between machines. Elsewhere others come in through a TCP proxy, which
// ends connections. It must leave no namespace and no bridge behind.

const { execFile, execFileSync } = require('node:child_process')
const os = require('node:os')
const { promisify } = require('node:util')
const { TcpProxy } = require('./tcp-proxy.js')

const SUBNETS = Array.from({ length: 256 }, (_, i) => `198.18.${i}`) // for tests of networks: nobody else has an address there

const ip = (line) => promisify(execFile)('ip', line.split(' '))

/** All namespaces and bridges that are there: whoever ends early must not leave them behind. */
const present = new Set()
process.once('exit', () => {
  for (const line of present) execFileSync('ip', line.split(' '))
})

/** Makes what the second line removes. */
async function make(line, removal) {
  await ip(line)
  present.add(removal)
}

async function remove(removal) {
  if (present.delete(removal)) await ip(removal)
}

/**
 * A machine: `host` is its address for members, `inside(command)` runs a program there, `open(port)` gives the address of a
 * port for other machines. Between `cutOff()` and `heal()` it does not reach them, nor they it.
 */
class Namespace {
  #name
  #others

  static async open(name, host, bridge, others) {
    const machine = new Namespace()
    Object.assign(machine, { host })
    machine.#name = name
    machine.#others = others
    await make(`netns add ${name}`, `netns del ${name}`)
    await ip(`link add ${name} type veth peer name eth0 netns ${name}`)
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

  /** Both ways: otherwise a replica would still be heard by a primary that it does not hear. */
  cutOff() {
    return this.#route('add')
  }

  heal() {
    return this.#route('del')
  }

  async #route(change) {
    for (const other of this.#others.filter((each) => each !== this)) {
      await ip(`-n ${this.#name} route ${change} blackhole ${other.host}/32`)
      await ip(`-n ${other.#name} route ${change} blackhole ${this.host}/32`)
    }
  }

  close() {
    return remove(`netns del ${this.#name}`)
  }
}

/** The same without namespaces. What it opens itself to others still works while it is cut off. */
class Doors {
  host = '127.0.0.1'
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

  async close() {
    await Promise.all(this.#doors.map((door) => door.close()))
  }
}

/** So many machines, what cuts them off, and how to end them all once nothing runs there any more. */
async function openNetwork(count) {
  const name = `ff${process.pid}`
  try {
    await make(`link add ${name} type bridge`, `link del ${name}`)
  } catch {
    console.warn('\n!!! No network namespaces, which need root on Linux: proxies end connections instead !!!\n')
    const machines = Array.from({ length: count }, () => new Doors())
    return { kind: 'proxies', machines, close: () => closeAll(machines) }
  }
  const taken = Object.values(os.networkInterfaces()).flat()
  const subnet = SUBNETS.find((each) => !taken.some(({ address }) => address.startsWith(`${each}.`)))
  await ip(`addr add ${subnet}.254/24 dev ${name}`)
  await ip(`link set ${name} up`)
  const machines = []
  for (let i = 1; i <= count; i++) await Namespace.open(`${name}n${i}`, `${subnet}.${i}`, name, machines)
  const close = async () => {
    await closeAll(machines)
    await remove(`link del ${name}`)
  }
  return { kind: 'namespaces', machines, close }
}

const closeAll = (machines) => Promise.all(machines.map((machine) => machine.close()))

module.exports = { openNetwork }
