'use strict'

// Draws the pictures of the documents, light and dark, from what the code says: `node scripts/pictures.js`.
// The bits of an ID in docs/start, one slot's windows over time in docs/store.

const fs = require('node:fs')
const path = require('node:path')

const docs = path.join(__dirname, '..', 'docs')
const THEMES = {
  light: { text: '#1f2328', faint: '#59636e', fields: ['#b6d7ff', '#c9e8c4', '#f8e1a1', '#f5c6cf'], line: '#59636e' },
  dark: { text: '#f0f6fc', faint: '#9198a1', fields: ['#1f4b7d', '#23572b', '#6b5310', '#7d2b3c'], line: '#9198a1' },
}
const FONT = 'font-family="ui-sans-serif, system-ui, sans-serif"'
const MONO = 'font-family="ui-monospace, monospace"'

const text = (x, y, words, { fill, size = 12, anchor = 'start', font = FONT }) =>
  `<text x="${x}" y="${y}" font-size="${size}" text-anchor="${anchor}" fill="${fill}" ${font}>${words}</text>`
const box = (x, y, width, height, rest) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="3" ${rest}/>`

/** What somebody hears who cannot see it stands in `title`. */
const picture = (width, height, title, parts) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="${title}">
<title>${title}</title>
${parts.join('\n')}
</svg>
`

/** The bits of README's first ID, field by field. */
function drawId({ text: fill, faint, fields: colours }) {
  const { layouts, toBigInt } = require('..')
  const id = 7529535382561648641n
  const bits = toBigInt(id).toString(2).padStart(64, '0')
  const { date, ...parts } = layouts.flake.decode(id)
  const values = { ...parts, timestamp: date.toISOString() }
  const [left, width] = [12, 12] // of the first bit, of each
  let at = 0
  const drawn = layouts.flake.fields.flatMap(([name, count], i) => {
    const [x, wide] = [left + at * width, count * width]
    const middle = x + wide / 2
    const shown = bits.slice(at, at + count)
    at += count
    return [
      box(x + 1, 26, wide - 2, 26, `fill="${colours[i]}"`),
      ...[...shown].map((bit, k) =>
        text(x + (k + 0.5) * width, 44, bit, { fill, size: 13, anchor: 'middle', font: MONO }),
      ),
      text(middle, 18, `${count} bits`, { fill: faint, size: 11, anchor: 'middle' }),
      text(middle, 70, name, { fill, size: 11, anchor: 'middle' }),
      text(middle, 87, values[name], { fill: faint, size: 11, anchor: 'middle', font: MONO }),
    ]
  })
  const said = layouts.flake.fields.map(([name, count]) => `${count} bits of ${name} (${values[name]})`).join(', ')
  return picture(2 * left + 64 * width, 96, `The ID ${id}: ${said}`, drawn)
}

/** A holder of a slot that is paused, and the one that takes over: seconds from left to right. */
function drawWindows({ text: fill, faint, fields: [a, b], line }) {
  const title =
    'One slot over 80 seconds. Member A makes IDs and renews its window at 10 s, until 40 s. It is paused at 15 s. ' +
    'At 40 s its window ends. Member B joins at 45 s and gets the slot, with a window until 75 s. ' +
    'A wakes up at 60 s: its window is over, so it makes no ID and takes another slot.'
  const x = (seconds) => 96 + seconds * 8
  const span = (from, to, y, rest) => box(x(from), y, (to - from) * 8, 22, rest)
  const outlined = `fill="none" stroke="${line}" stroke-dasharray="4 3"`
  const note = (seconds, y, words, colour = faint) => text(x(seconds), y, words, { fill: colour, size: 11 })
  return picture(760, 176, title, [
    text(12, 46, 'member A', { fill }),
    span(0, 40, 30, outlined),
    span(0, 15, 30, `fill="${a}"`),
    note(1, 45, 'makes IDs', fill),
    note(16, 45, 'paused; its window goes on'),
    note(41, 45, 'its window is over'),
    span(60, 80, 30, `fill="none" stroke="${line}"`),
    note(60.7, 45, 'wakes: another slot'),
    text(12, 106, 'member B', { fill }),
    span(45, 75, 90, outlined),
    span(45, 75, 90, `fill="${b}"`),
    note(46, 105, 'has the slot and makes IDs', fill),
    `<path d="M${x(10)} 24v34M${x(40)} 24v100M${x(45)} 84v40" stroke="${line}" fill="none"/>`,
    note(10.4, 22, 'renewed: until 40 s'),
    note(20, 138, 'nobody may use the slot before 40 s'),
    ...[0, 10, 20, 30, 40, 50, 60, 70, 80].map((s) =>
      text(x(s), 164, `${s} s`, { fill: faint, size: 11, anchor: 'middle' }),
    ),
  ])
}

for (const [theme, colours] of Object.entries(THEMES)) {
  fs.writeFileSync(path.join(docs, 'start', `id-${theme}.svg`), drawId(colours))
  fs.writeFileSync(path.join(docs, 'store', `windows-${theme}.svg`), drawWindows(colours))
}
