'use strict'

// The longest time that each member generated no ID although nothing happened to the member itself: it ran, was not
// paused, and had generated its first ID. Of the time in which this process itself was paused, only a moment counts.

const LOOK_MS = 20
const LONGEST_LOOK_MS = 200

class Gaps {
  #members
  #timer
  #seen = new Map() // for each member: its count when it was last seen to generate IDs, and since when
  #lookedAt = performance.now()
  #watchedMs = 0
  /** In ms, for each member. */
  longest

  constructor(members) {
    this.#members = members
    this.longest = members.map(() => 0)
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
  }

  /** In ms, for each member. */
  end() {
    clearInterval(this.#timer)
    return this.longest
  }

  #look() {
    const now = performance.now()
    this.#watchedMs += Math.min(now - this.#lookedAt, LONGEST_LOOK_MS)
    this.#lookedAt = now
    for (const [i, member] of this.#members.entries()) this.#lookAt(member, i, this.#watchedMs)
  }

  #lookAt(member, i, now) {
    const made = `${member.lives.length}/${member.sizes}`
    const before = this.#seen.get(member)
    const begins = !member.isRunning || member.isPaused || member.sizes.some((size) => size === 0)
    if (begins || before?.made !== made) this.#seen.set(member, { made, since: now })
    else this.longest[i] = Math.max(this.longest[i], now - before.since)
  }
}

module.exports = { Gaps }
