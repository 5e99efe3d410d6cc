// What the HTTP servers of a service share.

import type { Config } from './config/read.ts'
import type { Connections } from './http/connections.ts'
import type { Log } from './http/log.ts'
import type { Measures } from './http/measures.ts'
import type { Waiting } from './http/waiting.ts'
import type { Names } from './ids/names.ts'

/** `isEnding`: the end was requested; `isClosing`: no new work is accepted. */
export type State = { isEnding: boolean; isClosing: boolean; isOverloaded: () => boolean }

export interface Parts {
  config: Config
  names: Names
  connections: Connections
  waiting: Waiting
  measures: Measures
  log: Log
  state: State
}
