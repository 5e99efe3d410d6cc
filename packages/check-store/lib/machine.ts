// Simulates another machine in a child process, with another name and a clock that can be set. A store takes its time and its
// identity from the server, so its answers must not change. Loaded after our own timers and before the user's module.

import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'

const RealDate = Date
const sinceStart = performance.now.bind(performance)
let aheadMs = 0

const now = () => RealDate.now() + aheadMs

/** Changes this process's view of its machine from here on. */
export function moveAway() {
  os.hostname = () => 'flakeforge-check-another-machine'
  syncBuiltinESMExports()
  performance.now = () => sinceStart() + aheadMs
  globalThis.Date = new Proxy(RealDate, {
    apply: () => new RealDate(now()).toString(),
    construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  })
}

/** Sets the machine's clock ahead. */
export function setAhead(ms: number) {
  aheadMs = ms
}
