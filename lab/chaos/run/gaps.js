'use strict'

// The longest time that each member generated no ID although nothing happened to the member itself: it ran, was not
// paused, and had generated its first ID. Of the time in which this process itself was paused, only a moment counts. A
// second figure leaves out the time in which a member has a reason to wait, such as a store that it cannot reach.

const LOOK_MS = 20
const LONGEST_LOOK_MS = 200

class Gaps {
  #members
  #isHindered
  #timer
  #seen = new Map() // for each member: its count when it was last seen to generate IDs, and since when
  #lookedAt = performance.now()
  #watchedMs = 0
  /** In ms, for each member. */
  longest
  /** The same without the time in which a member was hindered; undefined if nobody can tell. */
  unhindered
  /** The last error of each member in that time. */
  errors

  /** @param {(member: object, i: number) => boolean} [isHindered] whether a member may have to wait now */
  constructor(members, isHindered) {
    this.#members = members
    this.#isHindered = isHindered
    this.longest = members.map(() => 0)
    this.unhindered = isHindered && members.map(() => 0)
    this.errors = members.map(() => undefined)
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
  }

  end() {
    clearInterval(this.#timer)
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
    if (begins || before?.made !== made) return this.#seen.set(member, { made, since: now, free: now })
    this.longest[i] = Math.max(this.longest[i], now - before.since)
    if (this.#isHindered === undefined) return
    if (this.#isHindered(member, i)) before.free = now
    if (now - before.free <= this.unhindered[i]) return
    this.unhindered[i] = now - before.free
    this.errors[i] = member.lastError
  }
}

module.exports = { Gaps }
