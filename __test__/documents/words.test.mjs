// The words of what users read: one word for one thing, as in docs/glossary.md, and numbers as English writes them.

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'
import { documentsIn } from '../support/documents.mjs'

const { DOCUMENTS, withNumbers } = createRequire(import.meta.url)('../../scripts/numbers.js')

const root = path.join(import.meta.dirname, '..', '..')
const read = (name) => readFileSync(path.join(root, name), 'utf8')
const filesIn = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true }).map((name) => path.join(folder, name))

/** What is not written, and what is written instead. */
const WORDS = [
  [/\bclean answers?\b/i, 'a confirmed write'],
  [/\bdialects?\b/i, 'a layout, or the system that it is of'],
  [/\bmakers?\b/i, 'a generator, or a process'],
  [/\b(?:windows?|leases?|quiet periods?) (?:is|are) over\b/i, 'has ended, ends'],
  [/\bg(?:ives?|ave) (?:it|the slot|its slot) back\b/i, 'releases'],
  [/\bis right (?:for|with) \[/i, 'suits'],
  [/\b(?:lease term|grace period)s?\b/i, 'a window, a quiet period'],
  [/\b(?:makes?|made) (?:equal |duplicate |the same |unique )?IDs\b(?! (?:smaller|repeat))/i, 'generates IDs'],
]

/** The page that explains the words, and one that a program writes of the code, for contributors. */
const NOT_FOR_USERS = ['docs/glossary.md', 'docs/map.md']

/** The pages for users, and the public types; not our names in code. */
const texts = () =>
  [
    ...[...documentsIn('docs'), ...documentsIn('examples'), 'README.md'].filter(
      (name) => !NOT_FOR_USERS.includes(name),
    ),
    ...readdirSync(root).filter((name) => name.endsWith('.d.ts')),
    ...filesIn('bin/commands'),
  ].map((name) => ({ name, text: read(name) }))

/** What a reader sees of the words: no code, and no line breaks. */
const plain = (text) => text.replaceAll(/`[^`\n]+`/g, '``').replaceAll(/\s*\n\s*(?:\* ?|\/\/ )?/g, ' ')

for (const [word, instead] of WORDS)
  test(`${word.source} is written as: ${instead}`, (t) => {
    const found = texts().flatMap(({ name, text }) => {
      const at = word.exec(plain(text))
      return at === null ? [] : [`${name}: …${plain(text).slice(Math.max(0, at.index - 40), at.index + 60)}…`]
    })
    t.deepEqual(found, [])
  })

for (const file of DOCUMENTS)
  test(`numbers of ${path.relative(root, file)}: \`node scripts/numbers.js\` corrects them`, (t) => {
    const text = readFileSync(file, 'utf8')
    t.is(text, withNumbers(text))
  })

test('thousands have a comma, and units a space that does not break; code stays as it is', (t) => {
  t.is(withNumbers('4 096 IDs in 5 ms, 98 % of 1 048 576'), '4,096 IDs in 5\u00a0ms, 98% of 1,048,576')
  t.is(withNumbers('`4 096` and [5 s](a#5 s)'), '`4 096` and [5\u00a0s](a#5 s)')
  t.is(withNumbers('`` `4 096` `` and 4 096, `a` of 4 096'), '`` `4 096` `` and 4,096, `a` of 4,096')
  t.is(
    withNumbers('```\n4 096\n```\n<!-- x -->\n4 096\n<!-- /x -->\n'),
    '```\n4 096\n```\n<!-- x -->\n4 096\n<!-- /x -->\n',
  )
  t.is(withNumbers('## It takes 65 s\n\n65 s'), '## It takes 65 s\n\n65\u00a0s')
  t.is(withNumbers('in 2026 100 IDs, 1.5 s'), 'in 2026 100 IDs, 1.5\u00a0s')
})

test('comments of public types have no spaces in numbers', (t) => {
  const found = texts()
    .filter(({ name }) => name.endsWith('.d.ts'))
    .flatMap(
      ({ name, text }) => text.match(/(?<![\d.,])\d{1,3} \d{3}(?!\d).*/g)?.map((line) => `${name}: ${line}`) ?? [],
    )
  t.deepEqual(found, [])
})
