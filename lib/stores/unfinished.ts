// Statements that a process gave up before they were answered, and that may still run on a server. A commit that waits for a
// standby does not end with its connection, nor with the client that sent it. So this is remembered by the server's address,
// for the next client there.

/**
 * A statement that was given up. `mark`: begins it, so that the server's list of sessions shows it. `settled`: when it was
 * answered after all, unless its connection was closed.
 */
export type Left = { mark: string; settled?: Promise<void> }

/** A server's answer: whether it still runs one of them; undefined without an answer. */
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
   * Whether one of the statements still runs. Only one client asks at a time. The others get its answer, but not its failure,
   * which may concern the asking client alone.
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
 * The unfinished statements of a server. There is a small entry for each server that this process has used.
 * @param address as all clients of this process name it; undefined for a user's client, which may lead anywhere
 */
export function unfinishedAt(address?: string) {
  if (address === undefined) return new Unfinished()
  const known = places.get(address) ?? new Unfinished()
  places.set(address, known)
  return known
}
