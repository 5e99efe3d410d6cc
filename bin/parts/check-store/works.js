'use strict'
// @ts-check

// Work in a child process that takes many calls, one straight after the other, so that processes get in each other's way.
// They report what happened; checks/ judge it.

/** @import { StoreIdentity } from '../../../index.d.ts' */

/**
 * A client: a function that makes a call of it. Nobody has looked at what it gives; the records that are read here are
 * there before, so that they should be texts.
 * @typedef {{
 *   (call: 'read', group: string, names: string[]): Promise<{ now: number, identity: StoreIdentity, values: string[] }>
 *   (call: 'swap', group: string, name: string, from: string | null, to: string, identity: StoreIdentity): Promise<unknown>
 * }} Call
 */

/** @typedef {{ message: string, code?: string }} Failure */

/** @typedef {typeof import('./works.js')} Works */

const { randomUUID } = require('node:crypto')
const { monotonicNow } = require('../../../lib/base/timers.js')

/**
 * The number at the beginning of a text that these functions wrote.
 * @param {string} text
 */
const numberOf = (text) => Number.parseInt(text, 10)

/**
 * Each client raises the number in one record by 1, again and again, until `ms` are over: read, then swap. Gives the swaps
 * that were answered true, and the failures.
 * @param {Call[]} clients
 * @param {{ group: string, name: string, ms: number, rounds: number }} options
 */
async function race(clients, { group, name, ms, rounds }) {
  const end = monotonicNow() + ms
  /** @type {[from: string, to: string][]} */
  const swapped = []
  /** @type {Failure[]} */
  const failures = []
  /** @param {Call} client */
  const raise = async (client) => {
    const { values, identity } = await client('read', group, [name])
    const to = `${numberOf(values[0]) + 1} ${randomUUID()}`
    if (await client('swap', group, name, values[0], to, identity)) swapped.push([values[0], to])
  }
  /** @param {Call} client */
  const run = async (client) => {
    for (let i = 0; i < rounds && monotonicNow() < end; i++) {
      await raise(client).catch(({ message, code }) => failures.push({ message, code }))
    }
  }
  await Promise.all(clients.map(run))
  return { swapped, failures }
}

/**
 * Each client makes the same record at once. Gives the texts of those whose swap was answered true.
 * @param {Call[]} clients
 * @param {{ group: string, name: string, identity: StoreIdentity }} options
 */
async function claim(clients, { group, name, identity }) {
  /** @param {Call} client */
  const run = async (client) => {
    const to = `mine ${randomUUID()}`
    return (await client('swap', group, name, null, to, identity)) === true ? [to] : []
  }
  return (await Promise.all(clients.map((client) => run(client).catch(() => [])))).flat()
}

/**
 * Writes a number into the first of two records and then into the second, again and again. So the second never has a
 * larger number than the first, and never one that is smaller by 2. The texts also say when the last one was written, by
 * the store's clock.
 * @param {Call[]} clients one
 * @param {{ group: string, names: string[], ms: number, rounds: number }} options
 */
async function writeInOrder([client], { group, names, ms, rounds }) {
  const end = monotonicNow() + ms
  let { values, identity, now } = await client('read', group, names)
  let n = numberOf(values[0])
  for (let i = 0; i < rounds || monotonicNow() < end; i++) {
    n++
    for (const [k, name] of names.entries()) {
      const to = `${n} ${Number(now)} ${randomUUID()}`
      while ((await client('swap', group, name, values[k], to, identity)) !== true) {
        ;({ values, identity } = await client('read', group, names))
        if (values[k] === to) break // it was answered false and written, which is allowed
      }
      values = values.map((value, j) => (j === k ? to : value))
    }
    ;({ now } = await client('read', group, names))
  }
  return { written: n }
}

/**
 * Reads lists of names in turn until `ms` are over, at least `rounds` times. Gives the numbers of the two records in each
 * read that was no snapshot, and by how many ms the oldest `now` was older than what was read with it.
 * @param {Call[]} clients one
 * @param {{ group: string, names: string[], lists: string[][], ms: number, rounds: number }} options
 */
async function readInOrder([client], { group, names, lists, ms, rounds }) {
  const end = monotonicNow() + ms
  /** @type {{ first: number, second: number, names: number }[]} */
  const torn = []
  let [reads, behindMs] = [0, 0]
  for (; reads < rounds || monotonicNow() < end; reads++) {
    const list = lists[reads % lists.length]
    const { values, now } = await client('read', group, list)
    const texts = names.map((name) => values[list.indexOf(name)])
    const [first, second] = texts.map(numberOf)
    if (!(first === second || first === second + 1)) torn.push({ first, second, names: list.length })
    for (const text of texts) behindMs = Math.max(behindMs, Number(text.split(' ')[1]) - Number(now))
  }
  return { reads, torn, behindMs }
}

module.exports = { claim, race, readInOrder, writeInOrder }
