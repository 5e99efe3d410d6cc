// What a process left running on a server: statements that were given up before they were answered. A commit that waits for a
// standby does not end with its connection, nor with the client that sent it. So this is remembered for the address of a
// server, and the next client there learns of it.

/**
 * A statement that was given up. `mark`: begins it, so that the server's list of sessions shows it. `settled`: when it was
 * answered after all, unless its connection was closed.
 */
export type Left = { mark: string; settled?: Promise<void> }

/** What a server says: whether it still runs one of them; undefined if it did not answer. */
type Running = boolean | undefined

export class Unfinished {
  #left: Set<Left> = new Set()
  #asking: Promise<Running> | undefined

  get isEmpty() {
    return this.#left.size === 0
  }

  add(left: Left) {
    this.#left.add(left)
  }

  delete(left: Left) {
    this.#left.delete(left)
  }

  /**
   * Whether one of them still runs. One question at a time is under way: a client that did not ask itself learns the answer, but
   * no failure, which may be of that other client alone.
   * @param ask the server, by the marks of the statements
   */
  async stillRun(ask: (marks: string[]) => Promise<Running>): Promise<Running> {
    const settled = [...this.#left].flatMap((left) => left.settled ?? [])
    if (this.#asking !== undefined)
      return Promise.race([this.#asking.catch(() => undefined), ...settled]) as Promise<Running>
    this.#asking = this.#ask(ask).finally(() => {
      this.#asking = undefined
    })
    return Promise.race([this.#asking, ...settled]) as Promise<Running>
  }

  async #ask(ask: (marks: string[]) => Promise<Running>) {
    const asked = [...this.#left]
    const isRunning = await ask(asked.map(({ mark }) => mark))
    if (isRunning === false) for (const left of asked) this.#left.delete(left)
    return isRunning
  }
}

const places: Map<string, Unfinished> = new Map()

/**
 * What was left at a server. There is a small entry for each server that this process has used.
 * @param address as all clients of this process name it; none: of a client of the user's, which may lead anywhere
 */
export function unfinishedAt(address?: string) {
  if (address === undefined) return new Unfinished()
  const known = places.get(address) ?? new Unfinished()
  places.set(address, known)
  return known
}
