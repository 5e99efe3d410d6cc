// flakeforge's metrics: each with its name, type, help, and how to read its values. No counting happens here, and no code
// runs between two collections.

import type { Totals } from '../../src/native.d.ts'
import { unixNow } from '../base/timers.ts'
import { acquisitions, joining, leases, type MeasuredLease, renewals, segments } from '../lease/counts-for-metrics.ts'
import { generators } from '../native/hot.ts'
import { notes, quorums } from '../stores/quorum/counts.ts'

type Sample = { labels: Record<string, string>; value: number }

/** The input of a collection, shared by all its metrics. */
export type Snapshot = { totals: Totals[]; leases: MeasuredLease[]; joining: MeasuredLease[]; now: number }

/** A metric. `aggregator`: how prom-client's cluster registry joins the values of several processes. */
export interface Family {
  /** without the `_total` of a counter */
  name: string
  type: 'counter' | 'gauge'
  help: string
  /** in OpenTelemetry's notation */
  unit: string
  labels: string[]
  aggregator: 'sum' | 'min' | 'max'
  read: (snapshot: Snapshot) => Sample[]
}

const STATES = ['joining', 'attached', 'detached', 'destroyed']

/**
 * The labels are bounded: layouts, groups and counters have the names that the program gives them, and the addon and
 * lib/lease/counts-for-metrics.ts count those beyond the first thousand together. A node number is not a label: it is part of a process's
 * configuration, and Prometheus already distinguishes processes. A slot changes hands, so it is a label of one metric only,
 * for joins.
 */
const OF_GENERATORS = ['layout', 'group']

export function snapshot(): Snapshot {
  return {
    totals: generators.totals(),
    leases: leases.living.filter((lease) => !lease.isClosed),
    joining: [...joining],
    now: unixNow(),
  }
}

const labelsOf = ({ layout, group }: Totals): Record<string, string> =>
  group === undefined ? { layout } : { layout, group }

/** A metric of generators, from their totals. */
const ofGenerators = (
  family: Pick<Family, 'name' | 'type' | 'help' | 'unit' | 'aggregator'>,
  read: (totals: Totals) => number,
): Family => ({
  ...family,
  labels: OF_GENERATORS,
  read: ({ totals }) => totals.map((total) => ({ labels: labelsOf(total), value: read(total) })),
})

/** Joins the values with the same labels: their sum, or another function of two values. */
function joined(samples: Sample[], join: (a: number, b: number) => number) {
  const byLabels: Map<string, Sample> = new Map()
  for (const { labels, value } of samples) {
    const key = JSON.stringify(labels)
    const known = byLabels.get(key)
    byLabels.set(key, { labels, value: known === undefined ? value : join(known.value, value) })
  }
  return [...byLabels.values()]
}

const sum = (a: number, b: number) => a + b

/** Seconds until the window of a lease ends; 0 without a window. */
const remainingOf = ({ expires }: MeasuredLease, now: number) =>
  expires === undefined ? 0 : Math.max(expires.getTime() - now, 0) / 1000

/** 0 without a slot. A slot in a file needs no renewal, so its window is not shown. */
function remaining({ leases, now }: Snapshot) {
  const concerned = leases.filter((lease) => lease.isWanted && !(lease.isOnFile && lease.state === 'attached'))
  const samples = concerned.map((lease) => ({ labels: { group: lease.group }, value: remainingOf(lease, now) }))
  return joined(samples, Math.min)
}

/** A lease without a slot that still wants one, as before its first slot and after a loss, is joining. */
const stateOf = (lease: MeasuredLease) => (lease.state === 'detached' && lease.isWanted ? 'joining' : lease.state)

function states({ leases, joining }: Snapshot) {
  const samples = [...leases, ...joining].flatMap((lease) =>
    STATES.map((state) => ({ labels: { group: lease.group, state }, value: Number(stateOf(lease) === state) })),
  )
  return joined(samples, sum)
}

function groupSlots({ leases, joining }: Snapshot) {
  const samples = [...leases, ...joining].map(({ group, slots }) => ({ labels: { group }, value: slots }))
  return joined(samples, Math.max)
}

function slots({ leases }: Snapshot) {
  return leases
    .filter(({ slot }) => slot !== undefined)
    .map(({ group, slot }) => ({ labels: { group, slot: String(slot) }, value: 1 }))
}

const countsOf = (all: Map<string, Record<string, number>>) =>
  [...all].flatMap(([group, counts]) =>
    Object.entries(counts).map(([result, value]) => ({ labels: { group, result }, value })),
  )

function left() {
  const open = segments.living.filter(({ isClosed }) => !isClosed)
  return joined(
    open.map(({ name, left }) => ({ labels: { segment: name }, value: left })),
    sum,
  )
}

/** A store that several lists of this thread have is up only if all of them can use it. */
function storesUp() {
  const open = quorums.living.filter(({ isClosed }) => !isClosed)
  const samples = open.flatMap(({ stores }) =>
    stores.map(({ label, isAway }) => ({ labels: { store: label }, value: Number(!isAway) })),
  )
  return joined(samples, Math.min)
}

function ends({ totals }: Snapshot) {
  const samples = totals.flatMap(({ layout, endMs, signedEndMs }) => [
    { labels: { layout, column: 'unsigned' }, value: (endMs ?? Number.NaN) / 1000 },
    { labels: { layout, column: 'signed' }, value: (signedEndMs ?? Number.NaN) / 1000 },
  ])
  return joined(
    samples.filter(({ value }) => !Number.isNaN(value)),
    Math.min,
  )
}

export const FAMILIES: Family[] = [
  ofGenerators(
    { name: 'flakeforge_ids', type: 'counter', unit: '{id}', aggregator: 'sum', help: 'IDs generated.' },
    ({ ids }) => ids,
  ),
  ofGenerators(
    {
      name: 'flakeforge_overflows',
      type: 'counter',
      unit: '{refusal}',
      aggregator: 'sum',
      help: 'Attempts that found the counter of a tick used up.',
    },
    ({ overflows }) => overflows,
  ),
  ofGenerators(
    {
      name: 'flakeforge_clock_steps',
      type: 'counter',
      unit: '{step}',
      aggregator: 'sum',
      help: 'How often generators saw the system clock step back.',
    },
    ({ clockSteps }) => clockSteps,
  ),
  ofGenerators(
    { name: 'flakeforge_waits', type: 'counter', unit: '{wait}', aggregator: 'sum', help: 'Waits for an ID.' },
    ({ waits }) => waits,
  ),
  ofGenerators(
    {
      name: 'flakeforge_wait_seconds',
      type: 'counter',
      unit: 's',
      aggregator: 'sum',
      help: 'The total duration of all waits for an ID.',
    },
    ({ waitedMs }) => waitedMs / 1000,
  ),
  ofGenerators(
    {
      name: 'flakeforge_ahead_seconds',
      type: 'gauge',
      unit: 's',
      aggregator: 'max',
      help: 'How far the last ID is ahead of the clock, for the generator that is furthest ahead.',
    },
    ({ aheadMs }) => aheadMs / 1000,
  ),
  {
    name: 'flakeforge_lease_window_remaining_seconds',
    type: 'gauge',
    unit: 's',
    aggregator: 'min',
    help: 'How long a lease can generate IDs without a renewal, for the lease whose window ends first; 0 without a slot.',
    labels: ['group'],
    read: remaining,
  },
  {
    name: 'flakeforge_lease_state',
    type: 'gauge',
    unit: '{lease}',
    aggregator: 'sum',
    help: 'How many leases are in this state: joining (looking for a slot), attached, detached or destroyed.',
    labels: ['group', 'state'],
    read: states,
  },
  {
    name: 'flakeforge_lease_slot_info',
    type: 'gauge',
    unit: '{slot}',
    aggregator: 'sum',
    help: 'The slots that leases hold now: always 1.',
    labels: ['group', 'slot'],
    read: slots,
  },
  {
    name: 'flakeforge_lease_renewals',
    type: 'counter',
    unit: '{renewal}',
    aggregator: 'sum',
    help: 'Renewals by result: renewed, lost, destroyed, or failed, if the store returned an error or nothing.',
    labels: ['group', 'result'],
    read: () => countsOf(renewals),
  },
  {
    name: 'flakeforge_lease_acquisitions',
    type: 'counter',
    unit: '{acquisition}',
    aggregator: 'sum',
    help: 'Calls to the store for a slot, by result: granted, exhausted (no slot is free), quiet, destroyed, or failed.',
    labels: ['group', 'result'],
    read: () => countsOf(acquisitions),
  },
  {
    name: 'flakeforge_group_slots',
    type: 'gauge',
    unit: '{slot}',
    aggregator: 'max',
    help: 'How many slots a group has.',
    labels: ['group'],
    read: groupSlots,
  },
  {
    name: 'flakeforge_segment_remaining',
    type: 'gauge',
    unit: '{id}',
    aggregator: 'sum',
    help: 'IDs that members of a counter hold and have not handed out.',
    labels: ['segment'],
    read: left,
  },
  {
    name: 'flakeforge_store_up',
    type: 'gauge',
    unit: '{store}',
    aggregator: 'min',
    help: 'Whether each of several stores that are one takes part: 1, or 0 while a majority does its work.',
    labels: ['store'],
    read: storesUp,
  },
  {
    name: 'flakeforge_store_events',
    type: 'counter',
    unit: '{event}',
    aggregator: 'sum',
    help:
      'What happened among several stores that are one: beaten or unknown (a round had to be repeated), torn, completed, filled ' +
      '(a store that had lost its records takes part again), era (a majority had lost them).',
    labels: ['event'],
    read: () => [...notes].map(([event, value]) => ({ labels: { event }, value })),
  },
  {
    name: 'flakeforge_layout_end_timestamp_seconds',
    type: 'gauge',
    unit: 's',
    aggregator: 'min',
    help: 'When IDs stop fitting a 64-bit column: unsigned, after which none are generated, or signed.',
    labels: ['layout', 'column'],
    read: ends,
  },
]

/** How long renewals take; observed as they happen. */
export const DURATION = {
  name: 'flakeforge_lease_renew_duration_seconds',
  help: 'How long the store took to answer renewals, failed ones included.',
  unit: 's',
  labels: ['group'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
}
