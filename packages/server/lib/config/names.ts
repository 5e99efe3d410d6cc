// The names in a server's configuration: groups, with the options of FlakeId.join(), and segments, with those of
// SegmentId.open(). flakeforge itself checks the options, so that they mean the same everywhere.

import { FlakeId } from 'flakeforge'
import { SegmentId } from 'flakeforge/lease'
import type { Coded } from '../http/problems.ts'
import { ConfigError, unknown } from './config-error.ts'
import { show } from './values.ts'

/** Options of join() or SegmentId.open(), which have checked them. */
export type NameOptions = Record<string, any>

export type Entry = { name: string; kind: 'group' | 'segment'; store: string | undefined; options: NameOptions }

/** Options of join() that make no sense in a server, and why. */
const NOT_HERE: Record<string, string> = {
  elseFrom:
    'A server returns only IDs that it generates itself: with other servers behind it, the origin of an ID would be unknown.',
  maxWaitMs: 'A server never blocks. Its option waitMs sets how long a request may wait.',
  signal: 'It cannot be set in a file.',
}
const OF_SEGMENT = ['segment', 'block', 'init', 'durable', 'store']

/** A store that refuses everything: SegmentId.open() checks its options before it asks. */
const NO_STORE: any = Object.fromEntries(
  ['create', 'acquire', 'renew', 'release', 'destroy', 'advance', 'list'].map((step) => [step, refuse]),
)

async function refuse() {
  throw new Error('This store is only for the check of options.')
}

/**
 * The names in a file, checked.
 * @param store the address for names without their own
 */
export async function readNames(given: unknown, store: string | undefined): Promise<Entry[]> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ConfigError(`names must be an object, such as { "orders": {} }, not ${show(given)}.`)
  }
  const entries = Object.entries(given)
  if (entries.length === 0) throw new ConfigError('names is empty. Name a group or a segment.')
  return Promise.all(entries.map(([name, options]) => readEntry(name, options, store)))
}

/** Groups of these names, all with the same layout. */
export function groupsOf(names: string[], layout: unknown, store: string | undefined) {
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new ConfigError(`--name ${twice} was given twice.`)
  return Promise.all(names.map((name) => readEntry(name, layout === undefined ? {} : { layout }, store)))
}

async function readEntry(name: string, given: unknown, otherStore: string | undefined): Promise<Entry> {
  checkName(name)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ConfigError(`Name '${name}' must have an object of options, not ${show(given)}.`)
  }
  const { store = otherStore, ...options } = given as NameOptions
  if (store !== undefined && typeof store !== 'string')
    throw new ConfigError(`Name '${name}': store must be an address, not ${show(store)}.`)
  const kind = 'segment' in options ? 'segment' : 'group'
  const checked = kind === 'segment' ? await readSegment(name, options) : await readGroup(name, options)
  return { name, kind, store, options: checked }
}

function checkName(name: string) {
  const wanted = 'a name of 1 to 128 characters without control characters, and neither . nor ..'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: we look for them
  const isBad = name.length < 1 || name.length > 128 || !name.isWellFormed() || /[\u0000-\u001f\u007f]/.test(name)
  if (isBad || name === '.' || name === '..') throw new ConfigError(`${show(name)} is not ${wanted}.`)
}

async function readGroup(name: string, options: NameOptions) {
  for (const [key, why] of Object.entries(NOT_HERE)) {
    if (key in options) throw new ConfigError(`Name '${name}': ${key} cannot be used in a server. ${why}`)
  }
  const { group = name, idOffset, ...others } = options
  const read = { ...others, group, ...(idOffset !== undefined && { idOffset: bigint(name, 'idOffset', idOffset) }) }
  // join() checks its options before it looks at the signal, and asks no store after that.
  await expect(name, 'ABORT_ERR', FlakeId.join(NO_STORE, { ...read, signal: AbortSignal.abort() }))
  return read
}

async function readSegment(name: string, options: NameOptions) {
  for (const key of Object.keys(options)) {
    if (!OF_SEGMENT.includes(key)) throw unknown(`option '${key}' of segment '${name}'`, key, OF_SEGMENT)
  }
  const { segment, init, ...others } = options
  const read = { ...others, ...(init !== undefined && { init: bigint(name, 'init', init) }) }
  await expect(name, 'ERR_FLAKE_STORE', SegmentId.open(NO_STORE, { ...read, name: segment }))
  return { ...read, segment }
}

/** Awaits a call that must fail after its options were checked; any other failure is about them. */
async function expect(name: string, code: string, call: Promise<unknown>) {
  try {
    await call
  } catch (cause) {
    const error = cause as Coded
    if (error.code === code || error.name === 'AbortError') return
    throw new ConfigError(`Name '${name}': ${error.message}`)
  }
}

/** @param value decimal text, or a number that is exact */
function bigint(name: string, key: string, value: unknown) {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value)
  throw new ConfigError(`Name '${name}': ${key} must be an integer, as text if it is beyond 2^53, not ${show(value)}.`)
}
