'use strict'

// How `npm test` looks: a dot for each test, and colours if the terminal can show them (it obeys NO_COLOR and
// FORCE_COLOR).

const hasColours = process.stdout.isTTY === true && process.stdout.hasColors()
const colour = (on, off) => (text) => (hasColours ? `\u001b[${on}m${text}\u001b[${off}m` : text)

const bold = colour(1, 22)
const green = colour(32, 39)
const red = colour(31, 39)
const yellow = colour(33, 39)

const MARKS = { passed: '.', failed: red('F'), skipped: yellow('s') }
const WIDTH = 100

/** Prints marks one after another, in lines of the same length. */
function dots(stream) {
  let column = 0
  return {
    add(result) {
      stream.write(MARKS[result])
      column++
      if (column === WIDTH) this.end()
    },
    end() {
      if (column > 0) stream.write('\n')
      column = 0
    },
  }
}

module.exports = { bold, dots, green, red }
