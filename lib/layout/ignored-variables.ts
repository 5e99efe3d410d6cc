// Warns of what was probably meant to give a node number, and does not: a variable that is misspelt or of another layout,
// and workers of a cluster that were given none. Otherwise node 0 is used, and nobody notices until IDs are equal. Loaded
// only where there is something to look at.

import { nearest } from '../base/nearest.ts'
import dialects from '../codec/dialects.ts'
import { factsOf } from '../codec/layout.ts'
import native from '../native/index.ts'

const PREFIX = 'FLAKEFORGE_'

/** The server checks its variables itself. */
const OF_SERVER = /^FLAKEFORGE_SERVER_/

/** What Kubernetes and Docker set for a service whose name begins with `flakeforge`. */
const OF_SERVICE = /_SERVICE_HOST$|_SERVICE_PORT(?:_|$)|_PORT_\d+_/
const OF_LINK = /^(?:tcp|udp|sctp):\/\//

/** The variables of all layouts that have a name. */
const ofAllLayouts = () =>
  dialects.flatMap(({ name }) => factsOf(name).nodeNames.map((field) => PREFIX + field.toUpperCase()))

function isOurs(variable: string) {
  if (OF_SERVER.test(variable) || OF_SERVICE.test(variable)) return false
  return !OF_LINK.test(process.env[variable] ?? '')
}

/**
 * Warns of each variable that nobody reads, once in a process. `others`: those that begin like ours and that this generator
 * does not read; `read`: the variables of its node fields; `isZero`: whether its node number is 0, so that a variable of
 * another layout matters.
 */
export function warnOfVariables(others: readonly string[], read: readonly string[], isZero: boolean) {
  const known = isZero ? [] : ofAllLayouts()
  for (const variable of others.filter(isOurs)) {
    if (!known.includes(variable))
      warn('FLAKEFORGE_VARIABLE', variable, `${variable} is ignored. ${hint(variable, read)}`)
  }
}

/** Suggests what was probably meant. The prefix is right, so it does not count. */
function hint(variable: string, read: readonly string[]) {
  const offered = ['FLAKEFORGE_ID', ...read, 'FLAKEFORGE_STORE']
  const meant = nearest(
    variable.slice(PREFIX.length),
    offered.map((name) => name.slice(PREFIX.length)),
  )
  return meant === undefined ? `The variables here are ${offered.join(', ')}.` : `Did you mean ${PREFIX}${meant}?`
}

/** Warns, once in a process, of a worker of a cluster whose generators all have node number 0, as in the other workers. */
export function warnOfWorker() {
  const { isWorker } = process.getBuiltinModule('node:cluster') as unknown as typeof import('node:cluster').default
  if (!isWorker) return
  const message =
    'This worker of a cluster makes IDs with node number 0, and so does every other one: they will be equal. Give each ' +
    'worker a number of its own (FLAKEFORGE_ID), or use FlakeId.join(), which finds one, or the option shared.'
  warn('FLAKEFORGE_NODE_ZERO', 'worker of a cluster', message)
}

/** @param subject of which there is one warning in a process */
function warn(code: string, subject: string, message: string) {
  if (native.isFirstToWarn(`${code} ${subject}`)) process.emitWarning?.(message, { code })
}
