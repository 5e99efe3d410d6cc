// IDs of a segment: small dense numbers, from blocks of a counter on a store. It opens the counter in the background, and
// retries for as long as the server runs. It takes no number as a test: the numbers are dense.

import { SegmentId } from 'flakeforge/lease'
import type { NameOptions } from '../config/names.ts'
import type { Waiting } from '../http/waiting.ts'
import { Recent } from '../recent.ts'
import type { SharedStore } from './stores.ts'
import { Supervisor } from './supervisor.ts'

/** How long an answer of the store counts, and how long it may take. */
const [FRESH_MS, ANSWER_MS] = [2_000, 2_000]

export class Segment {
  name
  json
  segment
  block
  supervisor

  kind = 'segment'
  #headers: Record<string, string> = {}
  #options
  #store
  #numbers: SegmentId | undefined
  #probe = new Recent(FRESH_MS, () => this.#ask())

  constructor(
    { name, options, store }: { name: string; options: NameOptions; store: SharedStore },
    _waiting: Waiting,
    warn: (text: string) => void,
  ) {
    this.name = name
    this.json = JSON.stringify(name)
    const { segment, ...rest } = options
    this.segment = segment
    this.block = rest.block ?? 10_000
    this.#options = { ...rest, name: segment }
    this.#store = store
    /** Opens the counter and keeps it. */
    this.supervisor = new Supervisor(`Segment '${segment}'`, warn, {
      take: () => this.#take(),
      untilGone: () => new Promise(() => {}), // an open counter needs no care
      end: () => this.#numbers?.close(),
    })
  }

  /** Why it supplies no numbers now, if its store does not answer; undefined if it does. */
  trouble() {
    if (this.#numbers === undefined) return this.supervisor.trouble
    return this.#probe.get()
  }

  /** Only requests show whether there are numbers: a test would use one up. */
  look() {}

  /** The headers of an answer with its IDs; a new object after each change. */
  get headers() {
    const { lineage } = this.#numbers ?? {}
    if (lineage !== undefined && lineage !== this.#headers['flakeforge-group'])
      this.#headers = { 'flakeforge-group': lineage }
    return this.#headers
  }

  one() {
    return String(this.#opened().nextBigInt())
  }

  /** Numbers that are here are handed out without a wait; it never blocks. */
  isFew() {
    return true
  }

  texts(n: number) {
    return this.#opened().takeStrings(n)
  }

  bytes(n: number) {
    return this.#opened().take(n)
  }

  later(n: number, signal: AbortSignal) {
    return this.#opened().takeAsync(n, { signal })
  }

  facts() {
    return { name: this.name, kind: 'segment', segment: this.segment, block: this.block }
  }

  #opened() {
    if (this.#numbers === undefined) throw this.supervisor.trouble
    return this.#numbers
  }

  async #take() {
    this.#numbers = await SegmentId.open(this.#store.open(), this.#options)
  }

  async #ask(): Promise<Error | undefined> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<Error>((resolve) => {
      timer = setTimeout(() => resolve(lateError(this.segment)), ANSWER_MS)
    })
    const asked = this.#store.list(this.segment).then(
      () => undefined,
      (error: Error) => error,
    )
    const trouble = await Promise.race([asked, late])
    clearTimeout(timer)
    return trouble
  }
}

const lateError = (segment: string) =>
  Object.assign(new Error(`The store of segment '${segment}' has not answered for ${ANSWER_MS} ms.`), {
    code: 'ERR_FLAKE_STORE',
  })
