// The pictures of the documents and their figures of speed are made from the code and the benchmark's results, and the bars
// are as long as their figures say.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'

const require = createRequire(import.meta.url)
const { measured, outputs, pictures } = require('../../scripts/pictures')
const { BARS } = require('../../scripts/pictures/bars.js')

for (const { file, text } of outputs())
  test(`${path.basename(file)} is the output of \`node scripts/pictures\``, (t) =>
    t.is(readFileSync(file, 'utf8'), text))

const FIGURES = {
  'README.md': [/`nextBigInt\(\)` takes \*\*(\d+) ns\*\*/, /flake-idgen's `next\(\)` \*\*(\d+) ns\*\*/],
  'docs/start/comparison.md': [
    /^\| \*\*`nextBigInt\(\)`\*\* \| \*\*(\d+)\*\* /m,
    /^\| flake-idgen `next\(\)` \| (\d+) /m,
  ],
}

for (const [file, places] of Object.entries(FIGURES))
  test(`${file} says what nextBigInt() and its peer take, and on what that was measured`, (t) => {
    const { node, cpu, ns } = measured()
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
    const shown = places.map((place) => Number(place.exec(text)[1]))
    t.deepEqual(shown, [ns['nextBigInt: flakeforge'], ns['next: flake-idgen']].map(Math.round))
    t.true(text.includes(`Node.js ${node}`) && text.includes(` on ${cpu}`))
  })

/** Each row of bars, top first: its words from left to right, and its boxes. */
function rowsOf(svg) {
  const rows = new Map()
  const rowAt = (y) => rows.get(y) ?? rows.set(y, { words: [], boxes: [] }).get(y)
  for (const [, left, y, width] of svg.matchAll(/<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"/g))
    rowAt(Number(y)).boxes.push({ left: Number(left), width: Number(width) })
  for (const [, y, words] of svg.matchAll(/<text x="[\d.]+" y="(\d+)"[^>]*>([^<]*)<\/text>/g))
    rows.get(Number(y) - 12)?.words.push(words)
  return [...rows].sort(([a], [b]) => a - b).map(([, row]) => row)
}

test('speed: a bar for each call, the fastest first, as long as its figure says', (t) => {
  const { ns } = measured()
  const [{ svg }] = pictures().filter(({ file }) => file.endsWith('speed-light.svg'))
  const wanted = BARS.map(([call, name]) => ({ name, ns: ns[call] })).sort((a, b) => a.ns - b.ns)
  const rows = rowsOf(svg)
  t.is(rows.length, BARS.length)
  const [{ boxes: fastest }] = rows
  for (const [i, { words, boxes }] of rows.entries()) {
    const figure = wanted[i].ns.toFixed(0).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
    t.is(words[0], wanted[i].name)
    t.is(words.at(-1), figure)
    t.true(svg.includes(`${wanted[i].name} ${figure}`), 'a screen reader reads it')
    if (boxes.length > 1) t.true(wanted[i].ns > 250, 'only long bars are cut')
    else t.true(Math.abs(boxes[0].width / fastest[0].width / (wanted[i].ns / wanted[0].ns) - 1) < 0.01, words[0])
  }
})
