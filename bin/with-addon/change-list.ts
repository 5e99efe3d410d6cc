// Changes the list of servers of groups and counters: one server is replaced, or three become five.

import { addressesIn } from '../../lib/base/addresses.ts'
import { printable, withoutSecrets } from '../../lib/base/printable.ts'
import { openChange } from '../../lib/stores/open.ts'
import type { Given } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { print } from '../parts/output.ts'
import { type AnyStore, addressOf, groupsOf, noGroup, storeFirst } from './stores.ts'

/** The groups and counters of this name, or all. */
async function namesIn(store: AnyStore, named: string | undefined) {
  if (named === undefined) {
    const groups = await groupsOf(store)
    const counters = await store.counters?.()
    if (groups !== undefined) return [...groups, ...(counters ?? []).map(({ name }) => name)]
  }
  const name = named ?? 'default'
  const isThere = (await store.has?.(name)) || (await store.counter(name)) !== undefined
  if (!isThere) throw await noGroup(store, name, named !== undefined)
  return [name]
}

export async function run({ values, operands: [verb, first, second, ...rest] }: Given) {
  const isReplacing = verb === 'replace'
  if ((!isReplacing && verb !== 'add') || second === undefined)
    throw usageError('Use `flakeforge stores replace OLD NEW`, or `flakeforge stores add NEW NEW`.')
  const [given, more] = storeFirst(rest, (word) => `flakeforge stores ${verb} … STORE ${word}`)
  if (more.length > 0) throw usageError('stores takes only addresses. Name a group with --group.')
  const address = addressOf(given)
  if (address === undefined) throw usageError('Pass the list of addresses, or set FLAKEFORGE_STORE.')
  const list = addressesIn(address)
  const old = isReplacing ? first : undefined
  if (old !== undefined && !list.includes(old))
    throw usageError(
      `${withoutSecrets(old)} is not in the list ${list.map(withoutSecrets).join(' ')}. Write it as there, with its options.`,
    )
  const to = [...list.filter((each) => each !== old), ...(isReplacing ? [second] : [first, second])]
  const names = await openChange(list, to, (store) => namesIn(store, values.group))
  const now = to.map(withoutSecrets)
  for (const name of names)
    await print(
      values.json
        ? `${JSON.stringify({ group: name, stores: now })}\n`
        : `The stores of '${printable(name)}' are now ${now.join(' ')}.\n`,
    )
}
