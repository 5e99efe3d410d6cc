// A wait that an AbortSignal ends. Uses no module of Node: browsers load this file too.

import { abortable } from './abort.ts'
import { clearTimeout, setTimeout } from './portable-timers.ts'

/** Resolves after this many ms. If the signal aborts first, it rejects with the signal's reason and clears its timer. */
export function sleepUnlessAborted(signal: AbortSignal | undefined, ms: number): Promise<void> {
  return abortable(signal, (callback) => {
    const timer = setTimeout(callback, ms)
    const cancel = () => {
      clearTimeout(timer)
      return true
    }
    return { cancel }
  })
}
