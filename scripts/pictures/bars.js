'use strict'

// The cost of one ID, as bars: flakeforge's calls and its peers', the fastest first, as measured by the benchmark. One
// scale from zero for all. A bar longer than that is cut, with a gap, and the words below say so.

const { box, picture, text } = require('./drawing.js')

/** The bars: the benchmark's name of the call, its name here, and its result. */
const BARS = [
  ['nextBigInt: flakeforge', 'flakeforge nextBigInt()', 'bigint'],
  ['next: flakeforge', 'flakeforge next()', 'Buffer'],
  ['nextString: flakeforge', 'flakeforge nextString()', 'text'],
  ['Date.now', 'Date.now() alone', 'no ID'],
  ['next: flake-idgen', 'flake-idgen next()', 'Buffer'],
  ['nextString: flake-idgen', 'flake-idgen, biguint-format', 'text'],
  ['next: @sapphire/snowflake', '@sapphire/snowflake', 'bigint'],
  ['next: snowflake-uuid', 'snowflake-uuid nextId()', 'bigint'],
  ['next: bson ObjectId', 'bson ObjectId', 'object'],
  ['next: hyperid', 'hyperid', 'text'],
  ['next: nanoid', 'nanoid', 'text'],
  ['next: crypto.randomUUID', 'crypto.randomUUID()', 'text'],
  ['next: uuid v7', 'uuid v7()', 'text'],
]

const [NAME, GIVES, START, END, WIDTH] = [8, 186, 240, 590, 640] // x: of the columns, of the bars, of the picture
const [TOP, ROW, HEIGHT] = [30, 22, 16] // y: of the first bar, from one to the next, of each
const [LONGEST, STEP] = [250, 50] // ns: the maximum that fits, and the distance between lines of the scale

const x = (ns) => Math.round((START + (ns / LONGEST) * (END - START)) * 10) / 10
const digits = (ns) => Math.round(ns).toLocaleString('en')

function drawBar(ns, y, fill) {
  const bar = (from, to) => box(from, y, Math.round((to - from) * 10) / 10, HEIGHT, `fill="${fill}"`)
  return ns <= LONGEST ? [bar(START, x(ns))] : [bar(START, END - 20), bar(END - 14, END)]
}

function drawRow([call, name, gives], ns, y, { text: fill, faint, bars }) {
  const line = y + 12
  return [
    text(NAME, line, name, { fill }),
    text(GIVES, line, gives, { fill: faint, size: 11 }),
    ...drawBar(ns, y, call.endsWith('flakeforge') ? bars.ours : bars.others),
    text(Math.min(x(ns), END) + 5, line, digits(ns), { fill }),
  ]
}

/** Lines at 0, 50, 100 ns and so on, from the first bar to the last. */
function drawScale(bottom, { faint, line }) {
  const marks = Array.from({ length: LONGEST / STEP + 1 }, (_, i) => i * STEP)
  const words = { fill: faint, size: 11, anchor: 'middle' }
  return [
    ...marks.map((ns) => text(x(ns), TOP - 12, ns === 0 ? '0 ns' : ns, words)),
    `<path d="${marks.map((ns) => `M${x(ns)} ${TOP - 6}V${bottom}`).join('')}" stroke="${line}" stroke-opacity="0.35"/>`,
  ]
}

function drawBars({ node, cpu, rounds, ns }, colours) {
  const bars = BARS.toSorted(([a], [b]) => ns[a] - ns[b])
  const bottom = TOP + bars.length * ROW
  const notes = [
    `ns per ID: shorter is faster. A bar with a gap would be longer than the picture.`,
    `Node.js ${node} on ${cpu}; the lowest of ${rounds} processes each, taking turns.`,
  ]
  const said = bars.map(([call, name]) => `${name} ${digits(ns[call])}`).join(', ')
  return picture(WIDTH, bottom + 40, `What one ID takes, in ns: ${said}. Node.js ${node} on ${cpu}.`, [
    ...drawScale(bottom, colours),
    ...bars.flatMap((bar, i) => drawRow(bar, ns[bar[0]], TOP + i * ROW, colours)),
    ...notes.map((note, i) => text(NAME, bottom + 16 + i * 16, note, { fill: colours.faint, size: 11 })),
  ])
}

module.exports = { BARS, drawBars }
