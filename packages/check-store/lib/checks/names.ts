// Checks that groups are separate whatever their names are, and that names and groups list exactly what exists.

import { Finding, show } from '../finding.ts'
import { slotName } from '../slot-name.ts'
import type { Check, Trial } from '../trial.ts'

const LONGEST = 128

/** Ends of group names: they differ in characters that databases ignore or interpret. */
const ENDS = ['a', 'A', 'a ', 'ab', 'a%', 'a_', 'a*', 'a?', 'a[b]', 'a/b', 'a:b', 'a.b', "a'b", 'a"b', 'a\\b']
const UNICODE_ENDS = ['\u00e9', 'e\u0301', 'e', '漢', '🙂']

/** The group names of this run, with two pairs of the longest among them. */
function namesOf(trial: Trial) {
  const long = (character: string, last: string) => {
    const room = LONGEST - trial.group('').length - 1
    return trial.group(`${character.repeat(room)}${last}`)
  }
  return [
    ...[...ENDS, ...UNICODE_ENDS].map((end) => trial.group(end)),
    long('x', 'y'),
    long('x', 'z'),
    long('漢', '字'),
    long('漢', '文'),
  ]
}

const without: (list: readonly string[], others: readonly string[]) => string[] = (list, others) =>
  list.filter((name) => !others.includes(name))

/**
 * The names of one group must be these, in any order.
 * @param what the call that they answer
 */
function compare(what: string, seen: readonly string[], wanted: readonly string[], todo: string) {
  const [more, missing] = [without(seen, wanted), without(wanted, seen)]
  const twice = seen.find((name, i) => seen.indexOf(name) !== i)
  if (more.length === 0 && missing.length === 0 && twice === undefined) return
  const some = (list: string[]) =>
    `${list.slice(0, 3).map(show).join(', ')}${list.length > 3 ? ` and ${list.length - 3} more` : ''}`
  const parts = [
    ...(more.length > 0 ? [`has ${some(more)} too many`] : []),
    ...(missing.length > 0 ? [`misses ${some(missing)}`] : []),
    ...(twice === undefined ? [] : [`has ${show(twice)} twice`]),
  ]
  throw new Finding(`${what} ${parts.join(', and ')}`, `${wanted.length === 0 ? 'no name' : 'each name once'}`, todo)
}

async function groupNames(trial: Trial) {
  const [client] = trial.clients
  const groups = namesOf(trial)
  trial.named = groups.map((group, i) => ({ group, names: ['group', slotName(i)] }))
  const texts = groups.map((group) => trial.text(group.slice(-8)))
  for (const [i, group] of groups.entries()) {
    const seen = await client.value(group, 'group')
    if (seen !== null) throw mixed(group, texts.indexOf(seen), groups)
    await trial.make(client, group, { group: texts[i], [slotName(i)]: trial.text() })
  }
  const names = ['group', ...groups.map((_, i) => slotName(i))]
  for (const [i, group] of groups.entries()) {
    const [text, ...slots] = await client.values(group, names)
    if (text !== texts[i]) throw mixed(group, texts.indexOf(text ?? ''), groups)
    const other = slots.findIndex((value, k) => value !== null && k !== i)
    if (other >= 0) throw mixed(group, other, groups)
  }
  return `${groups.length} groups are separate, with names of up to ${LONGEST} characters`
}

/** @param other the index in `groups` of the record's own group, if it is known */
function mixed(group: string, other: number, groups: string[]) {
  return new Finding(
    `group ${show(group)} has a record of ${other < 0 ? 'another group' : `group ${show(groups[other])}`}`,
    'groups with different names have nothing in common',
    'compare names of groups byte by byte and in full, and escape characters with a meaning in keys and patterns',
  )
}

async function names(trial: Trial) {
  const [client] = trial.clients
  const todo = "compare the group's name with =, not with a pattern or a prefix, and return all pages of the answer"
  for (const { group, names: wanted } of trial.named) {
    const seen = await client.names(group)
    compare(`names(${show(group)})`, seen, wanted, todo)
  }
  for (const name of ['nobody', 'a%b', '%', '_', '*']) {
    const group = trial.group(name)
    compare(`names(${show(group)}), a group that does not exist,`, await client.names(group), [], todo)
  }
  return "exactly the group's own"
}

async function groups(trial: Trial) {
  const [client] = trial.clients
  if (!client.has.groups) return 'absent, which is allowed; `npx flakeforge slots` then asks for a group'
  const all = await client.groups()
  const seen = all.filter((name) => name.toLowerCase().startsWith(trial.prefix))
  const wanted = trial.named.map(({ group }) => group)
  const others = [...trial.known()]
  compare(
    'groups()',
    seen,
    [...new Set([...others, ...wanted])],
    'return the name of every group that has a record, once',
  )
  return `${all.length} groups, ours among them`
}

/** The names of the largest search for a free slot: the group, some single slots, and a run. */
const RUN = Array.from({ length: 1024 }, (_, i) => slotName(1000 + i))
/** The length of each: databases limit the bytes of an answer, or of a group that is kept as one document. */
const TEXT_BYTES = 2000
const SINGLE = Array.from({ length: 75 }, (_, i) => slotName(10_000 + i * 577))

async function manyNames(trial: Trial) {
  const group = trial.group('many')
  const all = ['group', ...SINGLE, ...RUN]
  const made = all.filter((_, i) => i % Math.floor(all.length / trial.size.many) === 0)
  const texts = Object.fromEntries(made.map((name) => [name, trial.text(name).padEnd(TEXT_BYTES, '.')]))
  const entries = Object.entries(texts)
  const parts = trial.clients.map((_, k) => entries.filter((_, i) => i % trial.clients.length === k))
  await Promise.all(trial.clients.map((client, k) => trial.make(client, group, Object.fromEntries(parts[k]))))
  for (const client of trial.clients.slice(0, 2)) {
    const seen = await client.values(group, all)
    const wrong = all.findIndex((name, i) => seen[i] !== (texts[name] ?? null))
    if (wrong < 0) continue
    throw new Finding(
      `a read of ${all.length} names returned ${show(seen[wrong])} for '${all[wrong]}', the name at index ${wrong}`,
      show(texts[all[wrong]] ?? null),
      'return all pages of the answer, and put each value at the index of its name; let a swap write only its own record',
    )
  }
  const seen = await trial.clients[0].names(group)
  compare(`names() of a group with ${made.length} records`, seen, made, 'return all pages of the answer')
  return `${all.length} in one read, with ${made.length} records of ${TEXT_BYTES} bytes`
}

export default [
  { name: 'group names', run: groupNames, isOfOneClient: true },
  { name: 'names', run: names, isOfOneClient: true },
  { name: 'groups', run: groups, isOfOneClient: true },
  { name: 'many names', run: manyNames, isOfOneClient: true },
] satisfies Check[]
