'use strict'

// Notices a member that generates no ID although nothing stops it: it is not paused, and nothing hinders it. It counts checks,
// not time, so no member seems to hang on a machine that was paused.

const LOOK_MS = 200
const HANG_MS = 10_000

class Hangs {
  #members
  #hangMs
  #isHindered
  #timer
  #seen = new Map()

  /**
   * @param {(member: object, i: number) => boolean} [isHindered] whether a member may have to wait now; by default, one that
   *   has a separate clock, which others may be ahead of
   */
  constructor(members, hangMs = HANG_MS, isHindered = ({ isOff }) => isOff) {
    this.#members = members
    this.#hangMs = hangMs
    this.#isHindered = isHindered
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
  }

  end() {
    clearInterval(this.#timer)
  }

  #look() {
    for (const [i, member] of this.#members.entries()) this.#lookAt(member, i)
  }

  #lookAt(member, i) {
    const life = member.lives.length
    const before = this.#seen.get(member)
    const sizes = member.sizes
    const mayStandStill = !member.isRunning || member.isPaused || this.#isHindered(member, i)
    const looks = sizes.map((size, thread) => {
      if (mayStandStill || before?.life !== life || size !== before.sizes[thread]) return 0
      return before.looks[thread] + 1
    })
    const hangs = looks.indexOf(Math.ceil(this.#hangMs / LOOK_MS))
    if (hangs >= 0) {
      const last = member.lastError === undefined ? '' : `; its last error was ${member.lastError}`
      member.trouble(`hangs: thread ${hangs + 1} made no ID for ${this.#hangMs / 1000} s${last}`)
    }
    this.#seen.set(member, { life, sizes, looks })
  }
}

module.exports = { Hangs }
