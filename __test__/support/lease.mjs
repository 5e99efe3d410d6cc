// Shared by the tests of leased generators: joining a separate group, waiting for an event, and checking the result of
// every call in a state.

import { FlakeId, numberOf, syncCalls } from './index.mjs'
import { LEASE, MemoryStore } from './store.mjs'
import { limited } from './waits.mjs'

/** Slots of one process must not be those of another test's group: each group gets a layout with a different epoch. */
let groups = 0

/** Options of a lease with short windows, whose node numbers nothing else in this process has. */
export const leaseOptions = (options = {}) => ({ ...LEASE, epoch: 1_000_000 + groups++, waitMs: 10_000, ...options })

/** A member of a group, closed when the test is over. */
export async function joinAs(t, store, options) {
  const flake = await FlakeId.join(store, options)
  closeAfter(t, flake)
  return flake
}

/** A store, a member of its group, and the options for another member. */
export async function joined(t, options = {}, store = new MemoryStore()) {
  const own = leaseOptions(options)
  return { store, flake: await joinAs(t, store, own), options: own }
}

/** The error of a join that must fail. One that succeeds releases its slot and reports that. */
export const tryJoin = async (store, options) => {
  const flake = await FlakeId.join(store, options)
  await flake.close()
  return `joined, slot ${flake.slot}`
}

/** Releases the slot when the test is over, whatever happened to it: a lease that renews would outlive the test. */
export function closeAfter(t, flake) {
  t.teardown(() => flake.close().catch(() => {}))
}

export const EVENTS = ['attached', 'renewed', 'renewal-failed', 'lost', 'detached', 'destroyed']

/** All events from here on, in their order: [name, detail]. */
export function record(flake) {
  const told = []
  for (const event of EVENTS) flake.on(event, (detail) => told.push([event, detail]))
  return told
}

export const named = (told) => told.map(([name]) => name)

/**
 * The next event of this name: its detail. Call it before what causes the event: one that was emitted earlier does not count.
 * The error says what came instead.
 */
export function happens(flake, event, limitMs) {
  const others = []
  const listeners = []
  const { slot } = flake
  const told = new Promise((resolve) => {
    for (const name of EVENTS) {
      const listener = name === event ? resolve : () => others.push(name)
      listeners.push([name, listener])
      flake.on(name, listener)
    }
  })
  const state = () =>
    `'${event}' of the member with slot ${slot}. Now it is ${flake.state}, and has emitted: ${others.join(', ') || 'nothing'}`
  return limited(told, state, limitMs).finally(() => {
    for (const [name, listener] of listeners) flake.off(name, listener)
  })
}

/** Waits until the events of the last action are emitted: each comes in a separate turn. */
export const afterEvents = () => new Promise((resolve) => setImmediate(resolve))

/** Blocks the event loop, as a long computation does. */
export function block(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Every way to request IDs; a waiting call returns a promise. */
export const allCalls = {
  ...syncCalls,
  take: (flake) => flake.take(3),
  takeBigInts: (flake) => flake.takeBigInts(3),
  callback: (flake) =>
    new Promise((resolve, reject) => flake.next((error, id) => (error ? reject(error) : resolve(id)))),
  nextAsync: (flake) => flake.nextAsync(),
  takeAsync: (flake) => flake.takeAsync(3),
  asyncIterator: async (flake) => (await flake[Symbol.asyncIterator]().next()).value,
}

export const blockingCalls = { ...syncCalls, take: allCalls.take, takeBigInts: allCalls.takeBigInts }
export const waitingCalls = Object.fromEntries(Object.entries(allCalls).filter(([name]) => !(name in blockingCalls)))

/** Asserts that every one of these calls fails with this code, and returns the errors. */
export async function allRefuse(t, flake, code, calls = allCalls) {
  const errors = []
  for (const [name, call] of Object.entries(calls)) {
    const error = await t.throwsAsync(async () => call(flake), { code }, name)
    errors.push(error)
  }
  return errors
}

/**
 * Generates an ID every few ms until `isOver()`, by `nextAsync`, which must not fail. Returns all of them, ascending or
 * not.
 */
export async function flow(flake, isOver, pauseMs = 5) {
  const ids = []
  while (!isOver()) {
    ids.push(numberOf(await flake.nextAsync()))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  return ids
}
