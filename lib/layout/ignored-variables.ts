// Warns of a node number that was probably intended but is not used: a variable that is misspelt or of another layout, and
// workers of a cluster without a number. Otherwise they use node 0, which goes unnoticed until IDs are equal. Loaded only if
// there is something to check.

import type { WarningCode } from '../base/errors/codes.ts'
import { warn as warnOf } from '../base/errors/foreign.ts'
import { nearest } from '../base/nearest.ts'
import dialects from '../codec/dialects.ts'
import { factsOf } from '../codec/layout.ts'
import native from '../native/index.ts'

const PREFIX = 'FLAKEFORGE_'

/** The server checks its own variables. */
const OF_SERVER = /^FLAKEFORGE_SERVER_/

/** Those of the clients of the server in other languages. */
const OF_CLIENTS = ['FLAKEFORGE_TOKEN', 'FLAKEFORGE_CA', 'FLAKEFORGE_CERT', 'FLAKEFORGE_KEY']

/** Variables that Kubernetes and Docker set for a service whose name begins with `flakeforge`. */
const OF_SERVICE = /_SERVICE_HOST$|_SERVICE_PORT(?:_|$)|_PORT_\d+_/
const OF_LINK = /^(?:tcp|udp|sctp):\/\//

/** The variables of all named layouts. */
const ofAllLayouts = () =>
  dialects.flatMap(({ name }) => factsOf(name).nodeNames.map((field) => PREFIX + field.toUpperCase()))

function isOurs(variable: string) {
  if (OF_SERVER.test(variable) || OF_SERVICE.test(variable) || OF_CLIENTS.includes(variable)) return false
  return !OF_LINK.test(process.env[variable] ?? '')
}

/**
 * Warns, once per process, of each ignored variable. `others`: those with our prefix that this generator does not read;
 * `read`: the variables of its node fields; `isZero`: whether its node number is 0, so that a variable of another layout
 * matters.
 */
export function warnOfVariables(others: readonly string[], read: readonly string[], isZero: boolean) {
  const known = isZero ? [] : ofAllLayouts()
  for (const variable of others.filter(isOurs)) {
    if (!known.includes(variable))
      warn('FLAKEFORGE_VARIABLE', variable, `${variable} is ignored. ${hint(variable, read)}`)
  }
}

/** Suggests the variable that was probably meant. The prefix is right, so it does not count. */
function hint(variable: string, read: readonly string[]) {
  const offered = ['FLAKEFORGE_ID', ...read, 'FLAKEFORGE_STORE']
  const meant = nearest(
    variable.slice(PREFIX.length),
    [...offered, ...OF_CLIENTS].map((name) => name.slice(PREFIX.length)),
  )
  return meant === undefined ? `The variables here are ${offered.join(', ')}.` : `Did you mean ${PREFIX}${meant}?`
}

/**
 * Warns, once per process, of a worker of a cluster or of PM2 whose generator has node number 0, as the other workers
 * probably have too. The first worker may have it on purpose.
 */
export function warnOfWorker(isGiven: boolean) {
  const number = workerNumber()
  if (number === undefined || (isGiven && number === 0)) return
  const message =
    `This worker (number ${number}) of ${process.env.NODE_APP_INSTANCE ? 'PM2' : 'a cluster'} generates IDs with node number 0` +
    `${isGiven ? '' : ', and so does each of the others'}. Two workers with one node number generate equal IDs. Give each worker ` +
    'its own number (FLAKEFORGE_ID). Or use FlakeId.join(), which assigns one, or the option shared, in all processes at once.'
  warn('FLAKEFORGE_NODE_ZERO', 'worker of a cluster', message)
}

/** The number of this worker, from 0; undefined if the process is not a worker. */
function workerNumber() {
  const instance = Number.parseInt(process.env.NODE_APP_INSTANCE ?? '', 10)
  if (Number.isInteger(instance)) return instance
  const { worker } = process.getBuiltinModule('node:cluster') as unknown as typeof import('node:cluster').default
  return worker === undefined ? undefined : worker.id - 1
}

/** @param subject one warning per process and subject */
function warn(code: WarningCode, subject: string, message: string) {
  if (native.isFirstToWarn(`${code} ${subject}`)) warnOf(code, message)
}
