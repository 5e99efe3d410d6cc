'use strict'

// A timeline in seconds: the holder of a slot is paused, and another member takes the slot over.

const { box, picture, text } = require('./drawing.js')

const TITLE =
  'One slot over 80 seconds. Member A generates IDs and renews its window at 10 s, until 40 s. It is paused at 15 s. ' +
  'At 40 s its window ends. Member B joins at 45 s and gets the slot, with a window until 75 s. ' +
  'A wakes up at 60 s: its window is over, so it generates no ID and takes another slot.'

function drawWindows({ text: fill, faint, fields: [a, b], line }) {
  const x = (seconds) => 96 + seconds * 8
  const span = (from, to, y, rest) => box(x(from), y, (to - from) * 8, 22, rest)
  const outlined = `fill="none" stroke="${line}" stroke-dasharray="4 3"`
  const note = (seconds, y, words, colour = faint) => text(x(seconds), y, words, { fill: colour, size: 11 })
  return picture(760, 176, TITLE, [
    text(12, 46, 'member A', { fill }),
    span(0, 40, 30, outlined),
    span(0, 15, 30, `fill="${a}"`),
    note(1, 45, 'generates IDs', fill),
    note(16, 45, 'paused; its window continues'),
    note(41, 45, 'its window is over'),
    span(60, 80, 30, `fill="none" stroke="${line}"`),
    note(60.7, 45, 'wakes: another slot'),
    text(12, 106, 'member B', { fill }),
    span(45, 75, 90, outlined),
    span(45, 75, 90, `fill="${b}"`),
    note(46, 105, 'has the slot and generates IDs', fill),
    `<path d="M${x(10)} 24v34M${x(40)} 24v100M${x(45)} 84v40" stroke="${line}" fill="none"/>`,
    note(10.4, 22, 'renewed: until 40 s'),
    note(20, 138, 'no other member gets the slot before 40 s'),
    ...[0, 10, 20, 30, 40, 50, 60, 70, 80].map((s) =>
      text(x(s), 164, `${s} s`, { fill: faint, size: 11, anchor: 'middle' }),
    ),
  ])
}

module.exports = { drawWindows }
