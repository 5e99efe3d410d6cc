// Lists the slots on a store and their holders. Listing takes no slot, frees none, and creates no group.

import { said } from '../../lib/base/errors.ts'
import { printable } from '../../lib/base/printable.ts'
import type { SlotInfo } from '../../lib/entries/lease.ts'
import { readName } from '../../lib/lease/common-options.ts'
import type { DatabaseFunction } from '../../lib/stores/database-function.ts'
import type { StoreState } from '../../lib/stores/records.ts'
import type { Given } from '../parts/command.ts'
import { type Fault, report, usageError } from '../parts/faults.ts'
import { print } from '../parts/output.ts'
import { toTable } from '../parts/table.ts'
import { type AnyStore, groupsOf, hasGroup, noGroup, placeOf, storeFirst, withPresentStore } from './stores.ts'

/** The error of list() if some slots cannot be read. */
type ListError = Fault & { slots?: SlotInfo[]; faults?: string[] }

/** A store's contents: the slots that can be read, and the faults of the rest. */
export interface Found {
  slots: (SlotInfo & { group: string })[]
  faults: Fault[]
  /** groups of which no slot was ever held */
  empty: string[]
  /** functions in the store's database, whose nodes no group may grant */
  functions: DatabaseFunction[]
  /** the place of the store */
  place: string
  /** a server's own description of the place of its records */
  records: string | undefined
  /** of several servers that are one store, how each takes part */
  stores: (StoreState & { group: string })[]
}

const HEADINGS = ['group', 'slot', 'holder', 'since', 'last ID', 'window ends']

const STORE_HEADINGS = ['group', 'store', 'state', 'clock']

/** What each state of a store means for its operator: see core/src/lease/quorum. */
const STATES: Record<string, string> = {
  votes: 'takes part',
  behind: 'takes part, is behind',
  fills: 'lost its records, is being filled',
  unlisted: 'does not count: another store has taken its place',
  lost: 'lost its records, is filled by the next member',
  empty: 'has no records yet',
  starts: 'begins',
  apart: 'has records of another time',
  damaged: 'does not count: a record of it cannot be read',
  skewed: 'does not count: its clock is wrong',
  silent: 'does not answer',
}

const date = (value: Date | number | undefined) => (value === undefined ? '' : new Date(value).toISOString())

function holder({ owner, pid, host, hi }: SlotInfo) {
  if (owner === undefined) return 'free'
  if (pid !== undefined) return `process ${pid} on ${host}`
  return hi < Date.now() ? `free, last ${host}` : `${host} (${owner.slice(0, 6)})` // several members may be on one host
}

const row = (slot: Found['slots'][number]) => [
  slot.group,
  String(slot.slot),
  holder(slot),
  date(slot.since),
  date(slot.last),
  date(slot.hi),
]

/** The clock of etcd has whole seconds. */
const RIGHT_MS = 1000

function clockOf({ aheadMs }: StoreState) {
  if (aheadMs === undefined) return ''
  return Math.abs(aheadMs) < RIGHT_MS ? 'right' : `${Math.abs(aheadMs)} ms ${aheadMs > 0 ? 'ahead' : 'behind'}`
}

/** One that is silent, and why. */
const stateOf = ({ state, error }: StoreState) => {
  const text = STATES[state] ?? state
  const why = state === 'silent' && error !== undefined ? said(error, 120) : ''
  return why === '' ? text : `${text}: ${why}`
}

const storeRow = (state: Found['stores'][number]) => [state.group, state.store, stateOf(state), clockOf(state)]

/** The groups to list. If a given group does not exist, that is an error, because the name may be misspelt. */
async function chooseGroups(store: AnyStore, named?: string) {
  const known = named === undefined ? await groupsOf(store) : undefined
  if (known !== undefined) return known
  const group = named ?? 'default'
  if (!(await hasGroup(store, group))) throw await noGroup(store, group, named !== undefined)
  return [group]
}

/** The faults of a group: its error, or one for each bad file. */
const faultsOf = (error: ListError): Fault[] =>
  error.faults?.map((message) => ({ name: error.name, message, code: error.code })) ?? [error]

/** The slots of all groups as far as they can be read, and the faults of the rest: one bad file does not hide the others. */
async function listAll(store: AnyStore, named?: string): Promise<Found> {
  const groups = await chooseGroups(store, named)
  const listed = await Promise.all(groups.map((group) => listGroup(store, group)))
  return {
    slots: listed.flatMap(({ slots }) => slots),
    faults: listed.flatMap(({ faults }) => faults),
    empty: groups.filter((_, i) => listed[i].slots.length === 0 && listed[i].faults.length === 0),
    functions: (await store.functions?.()) ?? [],
    place: placeOf(store),
    records: await store.place?.(),
    stores: await statesOf(store, groups),
  }
}

async function statesOf({ storeStates }: AnyStore, groups: string[]) {
  if (storeStates === undefined) return []
  const found = await Promise.all(groups.map((group) => storeStates(group)))
  return found.flatMap((states, i) => states.map((state) => ({ group: groups[i], ...state })))
}

/** The slots of a group as far as they can be read, and the faults of the rest. */
async function listGroup(store: AnyStore, group: string): Promise<Pick<Found, 'slots' | 'faults'>> {
  const named = (slots: SlotInfo[]) => slots.map((slot) => ({ group, ...slot }))
  try {
    return { slots: named(await store.list(group)), faults: [] }
  } catch (cause) {
    const error = cause as ListError
    return { slots: named(error.slots ?? []), faults: faultsOf(error) }
  }
}

function toText({ slots, faults, empty, functions, place, records, stores }: Found) {
  const lines = slots.length > 0 ? [toTable(HEADINGS, slots.map(row))] : []
  lines.push(...empty.map((group) => `Group '${printable(group)}' is empty: none of its slots was ever held.`))
  if (lines.length === 0 && faults.length === 0) lines.push(`There are no groups ${printable(place)}.`)
  lines.push(...functions.map(({ name, node }) => `Node ${node} is reserved for the function ${printable(name)}().`))
  if (records !== undefined) lines.push(`The records are at ${printable(records)}.`)
  if (stores.length > 0) lines.push('', toTable(STORE_HEADINGS, stores.map(storeRow)))
  return lines.map((line) => `${line}\n`).join('')
}

/** A line for each slot, for each node that is reserved, and for each store of a list. */
const toJson = ({ slots, functions, stores }: Found) =>
  [
    ...slots,
    ...functions.map(({ name, node }) => ({ function: name, node })),
    ...stores.map(({ error, ...state }) => (error === undefined ? state : { ...state, error: said(error) })),
  ]
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('')

export async function run({ values, operands }: Given) {
  const [name, more] = storeFirst(operands, (word) => `flakeforge slots STORE --group ${word}`)
  if (more.length > 0)
    throw usageError(
      `slots takes one DIR or URL, or three or five URLs. Name a group with --group, not as '${printable(more[0])}'.`,
    )
  if (values.group !== undefined) readName('group', values.group)
  const found = await withPresentStore(name, (store) => listAll(store, values.group))
  for (const fault of found.faults) report(fault)
  await print(values.json ? toJson(found) : toText(found))
}
