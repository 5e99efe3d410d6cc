'use strict'

// Notices a member that generates no ID although nothing stops it: it is not paused, and it has no separate clock that
// others may be ahead of. It counts checks, not time, so no member seems to hang on a machine that was paused.

const LOOK_MS = 200
const HANG_MS = 10_000

class Hangs {
  #members
  #hangMs
  #timer
  #seen = new Map()

  constructor(members, hangMs = HANG_MS) {
    this.#members = members
    this.#hangMs = hangMs
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
  }

  end() {
    clearInterval(this.#timer)
  }

  #look() {
    for (const member of this.#members) this.#lookAt(member)
  }

  #lookAt(member) {
    const life = member.lives.length
    const before = this.#seen.get(member)
    const sizes = member.sizes
    const mayStandStill = !member.isRunning || member.isPaused || member.isOff
    const looks = sizes.map((size, thread) => {
      if (mayStandStill || before?.life !== life || size !== before.sizes[thread]) return 0
      return before.looks[thread] + 1
    })
    const hangs = looks.indexOf(Math.ceil(this.#hangMs / LOOK_MS))
    if (hangs >= 0) member.trouble(`hangs: thread ${hangs + 1} made no ID for ${this.#hangMs / 1000} s`)
    this.#seen.set(member, { life, sizes, looks })
  }
}

module.exports = { Hangs }
