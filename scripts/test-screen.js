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

/** So many outputs on one stream: what is written to one appears once all before it have ended. */
function inTurn(stream, count) {
  const held = Array.from({ length: count }, () => [])
  let turn = 0
  return held.map((texts, i) => ({
    write(text) {
      if (i === turn) stream.write(text)
      else texts.push(text)
    },
    end() {
      texts.isEnded = true
      if (i !== turn) return
      do {
        turn++
        for (const text of held[turn] ?? []) stream.write(text)
      } while (held[turn]?.isEnded)
    },
  }))
}

module.exports = { bold, dots, green, inTurn, red }
