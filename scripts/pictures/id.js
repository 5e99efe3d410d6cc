'use strict'

// The bits of README's first ID, field by field.

const { MONO, box, picture, text } = require('./drawing.js')

const ID = 7531752143322087424n

function drawId({ text: fill, faint, fields: colours }) {
  const { layouts, toBigInt } = require('../..')
  const bits = toBigInt(ID).toString(2).padStart(64, '0')
  const { date, ...parts } = layouts.flake.decode(ID)
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
  return picture(2 * left + 64 * width, 96, `The ID ${ID}: ${said}`, drawn)
}

module.exports = { drawId }
