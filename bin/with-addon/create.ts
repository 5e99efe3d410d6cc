// Creates a group that is known to be new, and waits until it grants slots. Without it, the first members wait until the
// members of a lost group would have stopped.

import { printable } from '../../lib/base/printable.ts'
import { createGroup } from '../../lib/entries/index.ts'
import type { Store } from '../../lib/entries/lease.ts'
import { BUDGET, secondsOf } from '../../lib/stores/time-budget.ts'
import { readLayout } from '../parts/arguments.ts'
import type { Given } from '../parts/command.ts'
import { type Fault, untilStopped, usageError } from '../parts/faults.ts'
import { factsOf } from '../parts/layout-facts.ts'
import { print, say } from '../parts/output.ts'
import { misspelt, storeFirst, withStore } from './stores.ts'

/** The output for people. */
function textOf(name: string, { created, isFolder }: { created: boolean; isFolder: boolean }) {
  const group = printable(name)
  if (!created) return `Group '${group}' already exists with the same options. Nothing was changed.`
  return `Created group '${group}'${isFolder ? '' : ' and waited until it grants slots'}.`
}

const NOTICED_MS = 2000 // a shorter wait needs no explanation

/** @param skew the value of --skew, in ms */
function whyLong(skew: unknown) {
  const skewSeconds = secondsOf(Number(skew ?? BUDGET.USUAL_SKEW_MS))
  const why = `1 s, and ${skewSeconds} s because the clocks of members may differ by that much (--skew)`
  return `takes ${1 + skewSeconds} s on a server: ${why}. It grants no slot before.`
}

const RUN_AGAIN =
  'may exist already, without granting slots yet. Run the same command again: it waits until slots are granted, or says when they will be.'

/** Says why it takes long; and after a signal, what may have become of the group. */
async function withReasons(created: Promise<boolean>, { group, skewMs }: { group: string; skewMs: unknown }) {
  const timer = setTimeout(() => say(`Creating group '${group}' ${whyLong(skewMs)}`), NOTICED_MS)
  try {
    return await untilStopped(created)
  } catch (cause) {
    if ((cause as Fault).signal !== undefined) say(`Interrupted. Group '${group}' ${RUN_AGAIN}`)
    throw cause
  } finally {
    clearTimeout(timer)
  }
}

export async function run({ values, operands }: Given) {
  const layout = readLayout(values, 'flake')
  const [name, [group = 'default', ...more]] = storeFirst(operands, (word) => `flakeforge create STORE ${word}`)
  if ((name ?? process.env.FLAKEFORGE_STORE ?? '') === '' || more.length > 0)
    throw usageError(
      `create takes DIR or URL, and perhaps GROUP. Without DIR and URL, FLAKEFORGE_STORE must be set.${misspelt()}`,
    )
  const { slots, backfill, ttl: ttlMs, skew: skewMs, durable, 'node-offset': nodeOffset } = values
  const nodes = Object.fromEntries(factsOf(layout).nodeNames.map((field) => [field, values[field]]))
  const options = { ...nodes, layout, group, slots, backfill, ttlMs, skewMs, durable, nodeOffset }
  const made = await withStore(name, async (store) => {
    const isFolder = store.folder !== undefined
    return { created: await withReasons(createGroup(store as Store, options), options), isFolder }
  })
  const text = values.json ? JSON.stringify({ group, created: made.created }) : textOf(group, made)
  await print(`${text}\n`)
}
