// Generates the IDs of `flakeforge new`. It waits like nextAsync(), so a clock that steps back delays the output but does not
// end it. Without a node number it takes a slot, like join(), so that concurrent commands generate no equal IDs.

import type { Base, IdLike, Layout } from '../../lib/entries/codec.ts'
import { FlakeId, format, toSigned } from '../../lib/entries/index.ts'
import { variableOf } from '../../lib/layout/node-number.ts'
import { readLayout } from '../parts/arguments.ts'
import type { Given, Values } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { factsOf, type LayoutFacts } from '../parts/layout-facts.ts'
import { FORMS, OF_GROUP } from '../parts/options.ts'
import { print, say } from '../parts/output.ts'
import { heading, hexOf, partsForJson, picture } from '../parts/picture.ts'
import { withSlot } from './slot.ts'

const BATCH = 8192 // IDs generated and written at a time: a few hundred kB of text

/**
 * How to write an ID in each form.
 * @param form one of FORMS
 */
function writer(form: string, layout: Layout): (id: IdLike) => string {
  if (form === 'hex') return hexOf
  return form === 'json' ? (id) => toJson(id, layout) : (id) => format(id, form as Base)
}

const toJson: (id: IdLike, layout: Layout) => string = (id, layout) =>
  JSON.stringify({
    hex: hexOf(id),
    dec: format(id),
    signed: String(toSigned(id)),
    base32: format(id, 'base32'),
    layout: layout.name,
    parts: partsForJson(layout.decode(id)),
  })

/** @param absent the default count */
function readCount({ n }: Values, operands: string[], absent: string) {
  const [count = n ?? absent, ...more] = operands
  if (more.length > 0 || (operands.length > 0 && n !== undefined)) {
    throw usageError(`new takes one N, not ${[...operands, ...(n === undefined ? [] : [`-n ${n}`])].join(' and ')}.`)
  }
  if (/^\d{10,}$/.test(count)) {
    throw usageError(`N must be 999999999 at most, not ${count}. If that is an ID, run 'flakeforge inspect ${count}'.`)
  }
  if (!/^\d+$/.test(count)) throw usageError(`N must be the number of IDs to generate, not '${count}'.`)
  return Number(count)
}

function readForm({ as, json }: Values) {
  const form = as ?? (json ? 'json' : undefined)
  if (form !== undefined && !FORMS.includes(form)) {
    throw usageError(`--as must be one of ${FORMS.join(', ')}, not '${form}'.`)
  }
  return form
}

/** Options that choose a slot; they make no sense with a node number or a file. */
const SLOT_OPTIONS = ['store', 'group', ...Object.keys(OF_GROUP), 'wait']

/**
 * The source of the node number.
 * @returns shared: out of a file
 */
function sourceOf(values: Values, { nodeNames }: LayoutFacts): 'given' | 'shared' | 'slot' {
  const slotOption = SLOT_OPTIONS.find((name) => values[name] !== undefined)
  const rival = ['shared', 'id'].find((name) => values[name] !== undefined)
  if (slotOption !== undefined && rival !== undefined) {
    throw usageError(`--${slotOption} is about slots, and with --${rival} no slot is taken. Leave one of them out.`)
  }
  if (values.shared !== undefined) return 'shared'
  if (slotOption !== undefined) return 'slot'
  const isGiven = ['id', ...nodeNames].some((name) => values[name] !== undefined)
  const variables = ['id', ...nodeNames].map(variableOf)
  return isGiven || variables.some((name) => process.env[name] !== undefined) ? 'given' : 'slot'
}

/** Does something with a generator of these options. */
async function withGenerator(values: Values, layout: Layout, work: (flake: FlakeId) => Promise<void>) {
  const facts = factsOf(layout)
  const nodes = Object.fromEntries(facts.nodeNames.map((name) => [name, values[name]]))
  const options = { ...nodes, layout, nodeOffset: values['node-offset'] }
  if (sourceOf(values, facts) === 'slot' && facts.nodeNames.length > 0) {
    const { store, group, slots, backfill, ttl: ttlMs, skew: skewMs, durable, wait: waitMs } = values
    return withSlot(store, { ...options, group, slots, backfill, ttlMs, skewMs, durable, waitMs }, work)
  }
  const { id, shared } = values
  if (facts.nodeNames.length === 0 && shared === undefined) {
    say('This layout has no node field, so other processes can generate equal IDs. Use --shared FILE in all of them.')
  }
  return work(new FlakeId({ ...options, id, shared }))
}

async function printLines(flake: FlakeId, count: number, form: string) {
  const write = writer(form, flake.layout)
  for (let left = count; left > 0; left -= BATCH) {
    const ids = await flake.takeAsync(Math.min(left, BATCH))
    let lines = ''
    for (let at = 0; at < ids.length; at += 8) lines += `${write(ids.subarray(at, at + 8))}\n`
    await print(lines)
  }
}

async function printPictures(flake: FlakeId, count: number) {
  for (let i = 0; i < count; i++) {
    const id = await flake.nextAsync()
    await print(`${heading(id)}\n${picture(id, flake.layout, flake.decode(id))}\n\n`)
  }
}

export async function run({ values, operands }: Given) {
  const layout = readLayout(values, 'flake')
  const form = readForm(values)
  const count = readCount(values, operands, form === undefined ? '3' : '1')
  await withGenerator(values, layout, (flake) =>
    form === undefined ? printPictures(flake, count) : printLines(flake, count, form),
  )
}
