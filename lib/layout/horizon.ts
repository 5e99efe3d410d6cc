// Warns a year before a layout's IDs end, and a year before they no longer fit a signed 64-bit column.
//
// There is no warning once an end has passed. After `end` every call throws. After `signedEnd`, IDs are still generated only for
// unsigned columns or text, or with a layout such as 'uniqueid', where the top bit does not depend on the time: a warning at
// each start for decades would be noise.

import { warn as warnOf } from '../base/errors/foreign.ts'
import { unixNow } from '../base/timers.ts'
import type { LayoutFacts } from '../codec/facts.ts'
import { nativeLayout } from '../native/hot.ts'
import native from '../native/index.ts'

const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS

/** From when, in Unix ms, a layout has to be checked. */
const nextLooks: WeakMap<LayoutFacts, number> = new WeakMap()

/**
 * Warns, once per process, if the layout ends within a year. Before that it costs one comparison.
 * @param now Unix ms
 */
export function lookAhead(facts: LayoutFacts, now: number = unixNow()) {
  if (now < (nextLooks.get(facts) ?? Number.NEGATIVE_INFINITY)) return
  nextLooks.set(facts, warnOfEnds(facts, now))
}

/** The meaning of each end, and what to do before it. */
type End = 'end' | 'signedEnd'
const MEANING: Record<End, string> = {
  end:
    'From then on it generates no IDs (ERR_FLAKE_TIME_RANGE). Before that day, move to a layout that ends later. Its IDs can ' +
    'be equal to old ones, so they need a separate table or column',
  signedEnd:
    'From then on its IDs do not fit a signed 64-bit column. Before that day, make such columns unsigned or numeric(20), ' +
    'or store toSigned(id), which becomes negative. IDs as 8 bytes or as text stay as they are',
}

/** Warns of the ends that are less than a year away. Returns when to check again. */
function warnOfEnds(facts: LayoutFacts, now: number) {
  const { end, signedEnd } = nativeLayout(facts)
  const ends = signedEnd === end ? { end } : { end, signedEnd }
  let next = Number.POSITIVE_INFINITY
  for (const [kind, at] of Object.entries(ends)) {
    if (now < at - YEAR_MS) next = Math.min(next, at - YEAR_MS)
    else if (now < at) warn(facts, kind as End, { at, now })
  }
  return next
}

function warn({ name, epoch }: LayoutFacts, kind: End, { at, now }: { at: number; now: number }) {
  if (!native.isFirstToWarn(`${kind} ${at} ${name}`)) return
  const days = Math.floor((at - now) / DAY_MS)
  const message =
    `Layout '${name}' (epoch ${epoch}) reaches its ${kind} on ${new Date(at).toISOString()}, in ${days} days. ` +
    `${MEANING[kind]}.`
  warnOf('FLAKEFORGE_HORIZON', message)
}
