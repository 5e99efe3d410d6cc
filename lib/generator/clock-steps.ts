// Publishes on the channel `flakeforge:clock.step` that the clock was set back: at once if a call is refused or has to wait
// for it, otherwise when the generator's counts are read for another reason, such as a lease's renewal. Each step is
// published once, and no code here runs when an ID is generated.

import { publishSoon } from '../base/channels.ts'
import { monotonicNow } from '../base/timers.ts'
import type { NativeGenerator } from './opened-generator.ts'
import type { Settings } from './options.ts'

type Told = { steps: number; until: number }

/** A waiting call tries again about when the wait should be over, or a little later. */
const SAME_MS = 1000

const toldOf: WeakMap<NativeGenerator, Told> = new WeakMap()

function told(native: NativeGenerator) {
  const known = toldOf.get(native) ?? { steps: 0, until: Number.NEGATIVE_INFINITY }
  toldOf.set(native, known)
  return known
}

/** @returns how many steps have not been published yet */
function newSteps(native: NativeGenerator, known: Told) {
  const steps = native.stats()?.clockSteps ?? 0
  const more = steps - known.steps
  known.steps = steps
  return more
}

const messageOf = ({ facts, node, group }: Settings, steps: number, behindMs: number) => ({
  layout: facts.name,
  node,
  ...(group !== undefined && { group }),
  steps,
  behindMs,
})

/** The clock is behind the generator's last ID, and a call was refused for it. */
export function refused(
  native: NativeGenerator,
  options: Settings,
  { behindMs, retryAfterMs }: { behindMs: number; retryAfterMs: number },
) {
  publishSoon('clock.step', () => {
    const known = told(native)
    const steps = newSteps(native, known)
    const isSame = steps === 0 && monotonicNow() < known.until
    known.until = monotonicNow() + retryAfterMs + SAME_MS
    return isSame ? undefined : messageOf(options, steps, behindMs)
  })
}

/** Checks for steps for which no call was refused. */
export function look(native: NativeGenerator, options: Settings) {
  publishSoon('clock.step', () => {
    const steps = newSteps(native, told(native))
    return steps === 0 ? undefined : messageOf(options, steps, 0)
  })
}
