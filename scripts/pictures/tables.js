'use strict'

// Writes the benchmark's results into the documents, as the pictures are drawn: from docs/start/speed.json. README has three
// figures, and the comparison has a table. Both say on what they were measured.

const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..', '..')
const PLACE = /(<!-- speed -->\n).*?(<!-- \/speed -->)/s

/** The benchmark's name of a call, and its name here: those of flakeforge are bold. */
const NEXT = [
  ['nextBigInt: flakeforge', '`nextBigInt()`'],
  ['Date.now', '`Date.now()` alone'],
  ['next: flakeforge', '`next()`'],
  ['next: flake-idgen', 'flake-idgen `next()`'],
]
const TEXT = [
  ['nextString: flakeforge', '`nextString()`'],
  ['nextString: flake-idgen', 'flake-idgen and biguint-format'],
]
const FORMS = [
  ['format: flakeforge', '`format(buffer)`'],
  ['format, bigint: flakeforge', '`format(bigint)`'],
  ['format: biguint-format', 'biguint-format'],
  ['parse: flakeforge', '`parse(text)`'],
  ['parse: plain JS', '`BigInt(text)` and 8 bytes'],
]
const MADE = [
  ['new, id: flakeforge', '`new FlakeId({ id: 7 })`'],
  ['new, id: flake-idgen', 'flake-idgen `new FlakeId({ id: 7 })`'],
]

/** The rows of the table. A call that was added after the last run has no row until the next one. */
const ROWS = [
  ...NEXT,
  ['next: plain JS', 'the best plain JavaScript we could write'],
  ['next: @sapphire/snowflake', '@sapphire/snowflake'],
  ['next: snowflake-uuid', 'snowflake-uuid'],
  ['next: crypto.randomUUID', 'crypto.randomUUID'],
  ['next: bson ObjectId', 'bson ObjectId (96 bits)'],
  ['take(8): flakeforge', '`take(8)`, all eight'],
  ['take(4096)', '`take(4096)`, per ID'],
  ['takeStrings(4096)', '`takeStrings(4096)`, per ID'],
  ...TEXT,
  ...FORMS,
  ['decode: flakeforge, flake', '`layout.decode(id)`'],
  ['decode: @sapphire/snowflake, flake', '@sapphire/snowflake `deconstruct(id)`'],
  ['decode: plain JS', 'the same in plain JavaScript'],
  ['encode: flakeforge', '`layout.encode(parts)`'],
  ['encode: plain JS', 'the same in plain JavaScript, unchecked'],
  ...MADE,
  ['new: flakeforge', '`new FlakeId()`, which reads the environment'],
  ['new: flake-idgen', 'flake-idgen `new FlakeId()`'],
]

const isOurs = (call) => call.includes('flakeforge') || call.startsWith('take')
const digits = (ns) => (ns < 10 ? ns.toFixed(1) : Math.round(ns).toLocaleString('en'))
const major = (node) => node.split('.', 1)[0]

function sentence({ node, cpu, ns }) {
  const of = (call) => `**${digits(ns[call])} ns**`
  return (
    `\`nextBigInt()\` takes ${of('nextBigInt: flakeforge')}, \`next()\` ${of('next: flakeforge')}, and flake-idgen's \`next()\` ` +
    `${of('next: flake-idgen')}, with Node.js ${node} on ${cpu}.`
  )
}

function table({ node, cpu, rounds, ns, more }) {
  const runs = [{ node, ns }, ...more]
  const versions = new Intl.ListFormat('en').format(runs.map((run) => run.node))
  const line = (cells) => `| ${cells.join(' | ')} |`
  const bold = (call, text) => (isOurs(call) ? `**${text}**` : text)
  return [
    `Node.js ${versions} on ${cpu}: the lowest of ${rounds} processes, which take turns, each on one core.`,
    '',
    line(['ns', ...runs.map((run) => `Node ${major(run.node)}`)]),
    `|${'---|'.repeat(runs.length + 1)}`,
    ...ROWS.filter(([call]) => runs.every((run) => call in run.ns)).map(([call, name]) =>
      line([bold(call, name), ...runs.map((run) => bold(call, digits(run.ns[call])))]),
    ),
  ].join('\n')
}

const FIGURES = { 'README.md': sentence, 'docs/start/comparison.md': table }

/** The documents with figures: the path of each file, and its expected contents. */
const tables = (measured) =>
  Object.entries(FIGURES).map(([name, write]) => {
    const file = path.join(root, name)
    const text = fs
      .readFileSync(file, 'utf8')
      .replace(PLACE, (_, begin, end) => `${begin}\n${write(measured)}\n\n${end}`)
    return { file, text }
  })

module.exports = { tables }
