// The commands that create a group with the options of a join(), and that end one: for the warning about the wait for a new
// group, and for the error about a group with other options. They show no password. The first creates exactly the group that
// join() asks for: it leaves out only the defaults of `flakeforge create`.

import { addressesIn } from '../base/addresses.ts'
import { isAbsent } from '../base/check.ts'
import { withoutSecrets } from '../base/printable.ts'
import { layoutOf } from '../codec/layout.ts'
import { addressOf } from '../stores/address.ts'
import { defaultFolder } from '../stores/file-store.ts'
import { type JoinSettings, readJoinOptions } from './join-options.ts'

/** A word of a command, quoted for a shell. */
const quote = (word: string) => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** The store's address. If it has a password that is in no environment variable, the reader has to insert it. */
function storeOf(store: string | null | undefined) {
  const named = process.env.FLAKEFORGE_STORE
  if (isAbsent(store) && !named) return quote(`file:${defaultFolder()}`)
  if (isAbsent(store) || store === named) return '"$FLAKEFORGE_STORE"'
  return addressesIn(store)
    .map((each) => quote(withoutSecrets(each)))
    .join(' ')
}

/** `--name value` for each option that is given. */
const flags = (values: Record<string, unknown>) =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${name} ${quote(String(value))}`)

function layoutFlags({ name: layout, spec, fields, tickMs, choices }: JoinSettings['facts']) {
  const { epoch, nodes, mode, idOffset } = choices
  const own = JSON.stringify({ name: layout, tickMs, fields })
  const name = spec.fields ? own : layout
  return flags({ layout: name === 'flake' ? undefined : name, epoch, nodes, mode, 'id-offset': idOffset })
}

/** Those that differ from the defaults of `flakeforge create`. */
function groupFlags({ facts, fixed, nodeOffset, config }: JoinSettings) {
  const usual = readJoinOptions({ layout: layoutOf(facts), ...fixed, nodeOffset }).config
  const own = (name: 'slots' | 'ttlMs' | 'skewMs') => (config[name] === usual[name] ? undefined : config[name])
  const durable = config.durable ? ['--durable'] : []
  return [...flags({ slots: own('slots'), ttl: own('ttlMs'), skew: own('skewMs') }), ...durable]
}

/**
 * The command that creates the group with these options before any process joins.
 * @param given the store as passed to join(): an address, a list of them, undefined, a store that openStore() opened at an
 * address, or another object, which only a program can use
 */
export function howToCreate(given: unknown, options: JoinSettings) {
  const store = addressOf(given)
  if (!isAbsent(store) && typeof store !== 'string')
    return 'await createGroup(store, options) once, with the options of join()'
  const { group, facts, fixed, nodeOffset } = options
  const words = [storeOf(store), quote(group), ...layoutFlags(facts), ...flags(fixed)]
  return `npx flakeforge create ${[...words, ...flags({ 'node-offset': nodeOffset }), ...groupFlags(options)].join(' ')}`
}

/** The command that ends the group, so that another one of this name can be created. */
export function howToDestroy(given: unknown, { group }: Pick<JoinSettings, 'group'>) {
  const store = addressOf(given)
  if (!isAbsent(store) && typeof store !== 'string') return `await store.destroy(${JSON.stringify(group)})`
  return `npx flakeforge destroy ${storeOf(store)} ${quote(group)} --yes`
}
