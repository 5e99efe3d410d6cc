// Finds two generators with one node number whose counters continue from tick to tick, as in Discord's system or @sapphire/snowflake:
// 100, 101, 102 and between them 3000, 3001. One generator cannot go back and forth between two such tracks, whatever IDs are missing
// from the table. Where counters restart in each tick, two generators generate equal IDs, and tracks show nothing.

interface Track {
  /** the counter that continues it */
  next: number
  steps: number
}

const MOST_TRACKS = 4
const LONG = 8 // steps after which a track is one
const TURNS = 16 // from one long track to another
const SHARE = 0.5 // of all counters that do not continue the last track; by chance it would be MOST_TRACKS / counters
const RESTARTS = 0.25 // of all ticks: more begin at 0 only if counters restart

export class Tracks {
  #size
  #tracks: Track[] = []
  #turns = 0
  #breaks = 0
  #ticks = 0
  #zeros = 0

  /** @param counterMax at least 255: with fewer counters, chance would look like tracks */
  constructor(counterMax: number) {
    this.#size = counterMax + 1
  }

  /** @param counters of one tick, ascending */
  add(counters: number[]) {
    this.#ticks++
    if (counters[0] === 0) this.#zeros++
    const start = this.#afterWidestGap(counters)
    for (let i = 0; i < counters.length; i++) this.#step(counters[(start + i) % counters.length])
  }

  /** How often the counters go from one track to the other, or 0 if that is no evidence. */
  get turns() {
    const restarts = this.#zeros > this.#ticks * RESTARTS
    return !restarts && this.#turns >= TURNS && this.#turns >= this.#breaks * SHARE ? this.#turns : 0
  }

  /** Where the counters of a tick begin: they may wrap around from the largest to 0. */
  #afterWidestGap(counters: number[]) {
    let [start, widest] = [0, counters[0] + this.#size - counters[counters.length - 1]]
    for (let i = 1; i < counters.length; i++) {
      const gap = counters[i] - counters[i - 1]
      if (gap > widest) [start, widest] = [i, gap]
    }
    return start
  }

  #step(counter: number) {
    const tracks = this.#tracks
    const next = (counter + 1) % this.#size
    const [last] = tracks // the one used last comes first
    if (last?.next === counter) {
      last.next = next
      last.steps++
      return
    }
    if (last !== undefined) this.#breaks++
    const at = tracks.findIndex((track) => track.next === counter)
    const track = at < 0 ? { next, steps: 0 } : tracks.splice(at, 1)[0]
    if (at >= 0) {
      track.next = next
      if (++track.steps > LONG && last.steps >= LONG) this.#turns++
    }
    tracks.unshift(track)
    if (tracks.length > MOST_TRACKS) tracks.pop()
  }
}
