// Checks read's answers for the given names, and when swap writes.

import { Finding, show } from '../finding.ts'
import type { Client } from '../process.ts'
import { slotName } from '../slot-name.ts'
import type { Check, Trial } from '../trial.ts'

async function absent(trial: Trial) {
  const names = ['group', slotName(3), 'counter']
  const seen = await trial.clients[0].values(trial.group('absent'), names)
  const wrong = seen.findIndex((value) => value !== null)
  if (wrong < 0) return 'null for each name'
  throw new Finding(
    `a read of group ${show(trial.group('absent'))}, which does not exist, returned ${show(seen[wrong])} for '${names[wrong]}'`,
    'null',
    'return null for an absent record',
  )
}

async function values(trial: Trial) {
  const group = trial.group('values')
  const [client] = trial.clients
  const made = ['counter', ...[7, 2, 9, 4, 65_535, 0].map(slotName), 'group']
  const texts: Record<string, string> = Object.fromEntries(made.map((name) => [name, trial.text(name)]))
  await trial.make(client, group, texts)
  const lists = [
    [slotName(9), slotName(4), slotName(7), slotName(2)],
    [slotName(2), slotName(3), slotName(4), slotName(5), slotName(65_535)],
    ['group', slotName(8), slotName(65_535), slotName(0), slotName(7), 'counter'],
    ['group'],
  ]
  for (const names of lists) {
    const seen = await client.values(group, names)
    const wrong = names.findIndex((name, i) => seen[i] !== (texts[name] ?? null))
    if (wrong < 0) continue
    throw new Finding(
      `a read of ${names.join(', ')} returned ${show(seen[wrong])} at index ${wrong}`,
      `${show(texts[names[wrong]] ?? null)}: the values in the order of the names, null for absent records`,
      'put each value at the index of its name; databases answer in their own order, and omit absent records',
    )
  }
  return 'in the order of the names, null for absent records'
}

/**
 * A swap that must be answered false and change nothing.
 * @param what its description, for the report
 */
async function isRefused(client: Client, group: string, name: string, from: string | null, what: string) {
  const before = await client.value(group, name)
  const answer = await client.swap(group, name, from, 'flakeforge check: this must not be written')
  const after = await client.value(group, name)
  if (!answer && before === after) return
  throw new Finding(
    `a swap ${what} was answered ${answer} and left ${show(after)} in place of ${show(before)}`,
    'false, and the record as it was',
    'write only if the record is `from`, in one atomic step; `from` is null only for an absent record',
  )
}

async function swap(trial: Trial) {
  const group = trial.group('swap')
  const [client] = trial.clients
  const [first, second] = [trial.text(), trial.text()]
  await isRefused(client, group, 'counter', first, 'from a text, of an absent record,')
  await isRefused(client, group, 'counter', '', 'from the empty text, of an absent record,')
  await trial.change(client, group, 'group', null, first)
  await isRefused(client, group, 'group', null, 'from null, of an existing record,')
  await isRefused(client, group, 'group', second, 'from another text')
  await trial.change(client, group, 'group', first, second)
  const seen = await client.value(group, 'group')
  if (seen !== second) {
    throw new Finding(
      `after a swap that was answered true, the record is ${show(seen)}`,
      show(second),
      'answer true only when `to` is written',
    )
  }
  await isRefused(client, group, 'group', first, 'from the earlier text')
  return 'writes only if the record is `from`'
}

export default [
  { name: 'absent', run: absent, isOfOneClient: true },
  { name: 'swap', run: swap, isOfOneClient: true },
  { name: 'values', run: values, isOfOneClient: true },
] satisfies Check[]
