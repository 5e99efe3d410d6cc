// Checks that texts are kept and compared byte by byte, and in full.

import { Finding, show } from '../finding.ts'
import type { Client } from '../process.ts'
import { slotName } from '../slot-name.ts'
import type { Check, Trial } from '../trial.ts'

/** Pairs of texts that databases may treat as equal, and the reason. */
const PAIRS = [
  ['Abc', 'abc', 'case'],
  ['É', 'é', 'case outside of ASCII'],
  ['abc ', 'abc', 'trailing spaces'],
  [' abc', 'abc', 'leading spaces'],
  ['é', 'e', 'accents'],
  ['\u00e9', 'e\u0301', 'composed and decomposed characters'],
  ['ß', 'ss', 'ß and ss'],
  ['ａ', 'a', 'the width of characters'],
  ['\u212b', '\u00c5', 'characters that look the same'],
  ['12', '012', 'leading zeros'],
  ['1e3', '1000', 'numbers'],
  ['a\u200bb', 'ab', 'characters without width'],
  ['🙂', '🙃', 'characters above U+FFFF'],
  ['abc', 'a%c', 'the patterns of LIKE'],
  ['abc', 'a_c', 'the patterns of LIKE'],
  ['abc', 'a*c', 'the patterns of GLOB'],
  ['abc', 'a.c', 'regular expressions'],
]

/** Texts with characters that statements, patterns and formats interpret. */
const ODD = ['\'"`\\', '%_*?[a-z]', '$1 :a ? @b', '{"a":[1,null]}', 'null', ' ', 'NaN', '<a>&amp;', '漢字 עברית']

const BINARY = 'use a binary type or collation for the column of the values'

async function bytes(trial: Trial) {
  const group = trial.group('bytes')
  const [client] = trial.clients
  for (const [i, [text, other, what]] of PAIRS.entries()) {
    const name = slotName(i)
    await trial.change(client, group, name, null, text)
    await isSame(client, group, name, text)
    if (await client.swap(group, name, other, trial.text())) {
      throw new Finding(
        `a swap from ${show(other)} was answered true while the record was ${show(text)}`,
        `false: they differ in ${what}`,
        BINARY,
      )
    }
    await trial.change(client, group, name, text, other)
    await isSame(client, group, name, other)
  }
  let before: string | null = null
  for (const text of ODD) {
    await trial.change(client, group, 'counter', before, text)
    await isSame(client, group, 'counter', text)
    before = text
  }
  return `${PAIRS.length} pairs that databases may treat as equal differ`
}

async function isSame(client: Client, group: string, name: string, text: string) {
  const seen = await client.value(group, name)
  if (seen === text) return
  const codes = (value: string | null) =>
    value === null ? 'null' : `${show(value)} (${Buffer.from(value).toString('hex', 0, 24)})`
  throw new Finding(`${codes(text)} was written, and ${codes(seen)} is read`, 'the same bytes', BINARY)
}

/** Texts of this many bytes whose last character differs. */
const LONG: [what: string, character: string, count: number][] = [
  ['1,000 bytes', 'x', 1000],
  ['1,024 bytes', 'x', 1024],
  ['2,200 bytes', 'x', 2200],
  ['2,200 bytes of two each', 'é', 1100],
  ['2,199 bytes of three each', '漢', 733],
  ['2,200 bytes of four each', '🙂', 550],
]

async function length(trial: Trial) {
  const group = trial.group('length')
  const [client] = trial.clients
  for (const [i, [what, character, count]] of LONG.entries()) {
    const name = slotName(i)
    const text = character.repeat(count)
    await trial.change(client, group, name, null, text)
    const seen = await client.value(group, name)
    const todo = 'use a type that holds 2,200 bytes, and let the server refuse a longer text instead of cutting it'
    if (seen !== text) {
      throw new Finding(`of a text of ${what}, ${seen?.length ?? 0} of ${text.length} characters are read`, 'all', todo)
    }
    const other = `${character.repeat(count - 1)}${character === 'x' ? 'y' : 'ç'}`
    if (await client.swap(group, name, other, trial.text())) {
      throw new Finding(
        `a swap was answered true although the record, of ${what}, differs from \`from\` in its last character`,
        'false: all bytes are compared',
        todo,
      )
    }
  }
  return 'texts of 2,200 bytes are kept and compared in full'
}

export default [
  { name: 'bytes', run: bytes, isOfOneClient: true },
  { name: 'length', run: length, isOfOneClient: true },
] satisfies Check[]
