// Work in a child process that takes many calls, one straight after the other, so that processes collide. It reports what
// happened; checks/ judge it.

import { randomUUID } from 'node:crypto'
import type { StoreIdentity } from 'flakeforge/lease'
import { monotonicNow, pause, step } from './time.ts'

/** A client: a function that makes one of its calls. The records that are read here exist already. */
export type Call = {
  (call: 'read', group: string, names: string[]): Promise<{ now: number; identity: StoreIdentity; values: string[] }>
  (
    call: 'swap',
    group: string,
    name: string,
    from: string | null,
    to: string,
    identity: StoreIdentity,
  ): Promise<boolean>
}

/** An error for the parent: its message and those of its causes, and the code of the first cause. */
export type Failure = { message: string; code?: string }

/** An error of a user's function, or any other thrown value. */
type Thrown = { message?: string; code?: string; cause?: Thrown } | null | undefined

const MOST_CAUSES = 5

export function failureOf(error: unknown): Failure {
  const thrown = error as Thrown
  const messages: string[] = []
  for (let each = thrown; each != null && messages.length < MOST_CAUSES; each = each.cause)
    messages.push((each.message ?? String(each)).replace(/\. See the cause\.$/, ''))
  return { message: messages.join(': ') || String(error), code: thrown?.cause?.code ?? thrown?.code }
}

/** The number at the beginning of a text that these functions wrote. */
const numberOf = (text: string) => Number.parseInt(text, 10)

/**
 * Each client raises the number in one record by 1, in a loop, until `ms` are over: read, then swap. Returns the swaps that
 * were answered true, and the failures.
 */
async function race(
  clients: Call[],
  { group, name, ms, rounds }: { group: string; name: string; ms: number; rounds: number },
) {
  const end = monotonicNow() + ms
  const swapped: [from: string, to: string][] = []
  const failures: Failure[] = []
  const raise = async (client: Call) => {
    const { values, identity } = await client('read', group, [name])
    const to = `${numberOf(values[0]) + 1} ${randomUUID()}`
    if (await client('swap', group, name, values[0], to, identity)) swapped.push([values[0], to])
  }
  const run = async (client: Call) => {
    for (let i = 0; i < rounds && monotonicNow() < end; i++) {
      await raise(client).catch((error) => failures.push(failureOf(error)))
    }
  }
  await Promise.all(clients.map(run))
  return { swapped, failures }
}

/** Each client creates the same record at once. Returns the texts of those whose swap was answered true. */
async function claim(
  clients: Call[],
  { group, name, identity }: { group: string; name: string; identity: StoreIdentity },
) {
  const run = async (client: Call) => {
    const to = `mine ${randomUUID()}`
    return (await client('swap', group, name, null, to, identity)) ? [to] : []
  }
  return (await Promise.all(clients.map((client) => run(client).catch(() => [])))).flat()
}

let isWriting = false

/** Ends writeInOrder(). */
export function endWriting() {
  isWriting = false
}

/**
 * Writes a number into the first of these records, then into the second and so on, in a loop until endWriting(). So no record
 * ever has a larger number than one before it, nor one that is smaller by 2. The texts also contain when the last one was
 * written, by the store's clock.
 * @param clients one
 */
async function writeInOrder([client]: Call[], { group, names }: { group: string; names: string[] }) {
  isWriting = true
  let { values, identity, now } = await client('read', group, names)
  let n = numberOf(values[0])
  while (isWriting) {
    n++
    for (const [k, name] of names.entries()) {
      const to = `${n} ${Number(now)} ${randomUUID()}`
      while (!(await client('swap', group, name, values[k], to, identity))) {
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
 * Reads lists of names in turn until `ms` are over, at least `rounds` times. Between any two of its steps the process is
 * suspended for `haltMs`, so that much is written between two questions to the server. Returns the numbers of two records in
 * each read that was no snapshot, by how many ms the oldest `now` was older than the records read with it, and how long a
 * read took.
 * @param clients one
 */
async function readInOrder(
  [client]: Call[],
  {
    group,
    names,
    lists,
    ms,
    rounds,
    haltMs,
  }: { group: string; names: string[]; lists: string[][]; ms: number; rounds: number; haltMs: number },
) {
  const start = monotonicNow()
  const torn: { first: [string, number]; second: [string, number]; names: number }[] = []
  let [reads, behindMs] = [0, 0]
  for (; reads < rounds || monotonicNow() - start < ms; reads++) {
    const list = lists[reads % lists.length]
    const { values, now } = await haltingly(client('read', group, list), haltMs)
    const texts = names.map((name) => values[list.indexOf(name)])
    const numbers = texts.map(numberOf)
    for (let k = 1; k < names.length; k++) {
      const [first, second] = [numbers[k - 1], numbers[k]]
      if (first === second || first === second + 1) continue
      torn.push({ first: [names[k - 1], first], second: [names[k], second], names: list.length })
    }
    for (const text of texts) behindMs = Math.max(behindMs, Number(text.split(' ')[1]) - Number(now))
  }
  return { reads, torn, behindMs, readMs: (monotonicNow() - start) / reads }
}

/** The result of a call, in a process that is suspended for this many ms after each of its steps. */
async function haltingly<T>(call: Promise<T>, ms: number) {
  let isDone = ms === 0
  const ended = () => {
    isDone = true
  }
  call.then(ended, ended)
  while (!isDone) {
    await step()
    pause(ms)
  }
  return call
}

export const WORKS = { race, claim, writeInOrder, readInOrder }

export type Works = typeof WORKS
export type WorkName = keyof Works
