// IDs of a group: a generator with a slot of a store. It acquires the slot in the background, and again when it is lost, for
// as long as the server runs. It does not block the event loop, and an unreachable store does not end the server.

import { FlakeId, Layout } from 'flakeforge'
import type { LeasedFlakeId } from 'flakeforge/lease'
import type { NameOptions } from '../config/names.ts'
import { dated } from '../dates.ts'
import type { Coded } from '../http/problems.ts'
import type { Waiting } from '../http/waiting.ts'
import { SlotPages } from './slot-pages.ts'
import type { SharedStore } from './stores.ts'
import { Supervisor } from './supervisor.ts'

/**
 * Up to this many ms a synchronous call may block if a tick was used up at that very moment: less than a request takes. With
 * longer ticks, calls wait without blocking.
 */
const SHORT_TICK_MS = 1

/** The maximum time of one attempt to get a slot: after that its failure is known, and can be shown. */
const TRY_MS = 10_000

/** A layout's choices, as `new Layout(spec, choices)` takes them. */
const CHOICES = ['epoch', 'nodes', 'mode', 'idOffset']

export class Group {
  name
  json
  group
  layout
  supervisor
  /** The slots of the group in the store, for GET /v1/slots. */
  slots

  kind = 'group'
  #options
  #store
  #waiting
  #flake: LeasedFlakeId | undefined
  #isOrdered // whether the IDs of a slot ascend
  #few // up to this many IDs are generated at once, without a wait
  #headers: Record<string, string> = {}
  #lineage: string | undefined // in the headers
  #slot: number | undefined // in the headers
  #unlisted: string | undefined // the code of the last reported reason why the slots cannot be listed

  constructor(
    { name, options, store }: { name: string; options: NameOptions; store: SharedStore },
    waiting: Waiting,
    warn: (text: string) => void,
  ) {
    this.name = name
    this.json = JSON.stringify(name)
    this.group = options.group ?? name
    this.#store = store
    this.#waiting = waiting
    this.#options = { ...options, group: this.group, maxWaitMs: 0 }
    this.layout = layoutOf(options)
    this.#few = fewOf(this.layout, options.seqMask)
    this.#isOrdered = ascends(this.layout)
    this.slots = new SlotPages(
      { name, group: this.group },
      () => this.#list(warn),
      () => this.#flake?.slot,
    )
    /** Acquires the slot and keeps it. */
    this.supervisor = new Supervisor(`Group '${this.group}'`, warn, {
      take: (signal) => this.#take(signal),
      untilGone: () => this.#untilGone(),
      end: () => this.#flake?.close(),
    })
  }

  /**
   * Why it generates no IDs now, nor within the time that requests wait; undefined if it does. It generates one as a
   * test only if something looks wrong. A tick that is used up is not a failure.
   */
  trouble() {
    const flake = this.#flake
    if (flake === undefined) return this.supervisor.trouble
    if (!this.supervisor.isOut && !this.#looksWrong(flake)) return undefined
    try {
      flake.nextBigInt()
    } catch (cause) {
      const error = cause as Coded
      if (error.code !== 'ERR_FLAKE_OVERFLOW' && !this.#waiting.helps(error)) return error
    }
  }

  /** Reports when IDs stop, and when they are back. */
  look() {
    if (this.supervisor.trouble !== undefined) return // already reported
    const trouble = this.trouble()
    if (trouble === undefined) this.supervisor.works()
    else this.supervisor.fails(trouble)
  }

  /**
   * Without a slot, after the end of its window, or while the clock is behind the last ID. In a folder a window advances as
   * IDs are generated, so its end means nothing.
   */
  #looksWrong({ state, expires, stats }: LeasedFlakeId) {
    const isOver = !this.#store.isFolder && Number(expires) < Date.now()
    return state !== 'attached' || isOver || stats.aheadMs > 0
  }

  /** The headers of an answer with its IDs; a new object after each change. */
  get headers() {
    const { lineage, slot } = this.#flake ?? {}
    if (lineage !== this.#lineage || slot !== this.#slot) {
      this.#headers = {
        'flakeforge-layout': String(this.#flake?.fingerprint),
        'flakeforge-group': String(lineage),
        ...(slot !== undefined && { 'flakeforge-slot': String(slot) }),
        ...(!this.#isOrdered && { 'flakeforge-order': 'none' }),
      }
      ;[this.#lineage, this.#slot] = [lineage, slot]
    }
    return this.#headers
  }

  /** One ID as decimal text, without waiting. */
  one() {
    return this.#held().nextString()
  }

  /** Whether this many IDs can be requested without waiting. */
  isFew(n: number) {
    return n <= this.#few
  }

  texts(n: number) {
    return this.#held().takeStrings(n)
  }

  bytes(n: number) {
    return this.#held().take(n)
  }

  /** The same, after a wait for the ticks that they need. */
  async later(n: number, signal: AbortSignal) {
    const trouble = this.trouble()
    if (trouble !== undefined) throw trouble
    return this.#held().takeAsync(n, { signal })
  }

  /** The entry in GET /v1/names. */
  facts() {
    const { state = 'detached', slot, expires } = this.#flake ?? {}
    const held = slot === undefined ? {} : { slot, expires: expires?.toISOString() }
    return {
      name: this.name,
      kind: 'group',
      group: this.group,
      layout: specOf(this.layout),
      state,
      ...held,
    }
  }

  async #list(warn: (text: string) => void) {
    try {
      const slots = await this.#store.list(this.group)
      this.#unlisted = undefined
      return slots
    } catch (error) {
      const { code, message } = error as Coded
      if (code !== this.#unlisted) warn(`Group '${this.group}': its slots cannot be listed: ${message}`)
      this.#unlisted = code
      throw error
    }
  }

  #held() {
    if (this.#flake === undefined) throw this.supervisor.trouble
    return this.#flake
  }

  async #take(signal: AbortSignal) {
    if (this.#flake === undefined) {
      const store = this.#store.open()
      const flake = await FlakeId.join(store, { ...this.#options, waitMs: TRY_MS, signal })
      this.#flake = flake
    } else {
      await this.#flake.attach({ signal })
    }
  }

  /** Resolves with the reason once the generator has given up its slot. It replaces a lost slot itself. */
  #untilGone() {
    const flake = this.#flake as LeasedFlakeId
    return new Promise<Error | undefined>((resolve) => {
      flake.once('detached', ({ cause }) => resolve(cause))
      flake.once('destroyed', () => flake.nextAsync().then(undefined, resolve))
    })
  }
}

/** The layout of a group's options. */
function layoutOf(options: NameOptions) {
  const choices = Object.fromEntries(CHOICES.map((choice) => [choice, options[choice]]))
  return new Layout(options.layout ?? 'flake', choices)
}

/** Whether the IDs of one slot ascend: its node fields stay the same, so only the timestamp and the counter decide. */
function ascends({ fields, mode }: Layout) {
  const names = fields.map(([name]) => name)
  const isSpread = mode === 'spread' || (names.includes('mode') && mode !== 'sequential')
  const [timestamp, counter] = ['timestamp', 'counter'].map((name) => names.indexOf(name))
  return !isSpread && (counter === -1 || timestamp < counter)
}

/**
 * How many IDs may be requested in one synchronous call: half of what a ms has room for, so that such a call hardly ever
 * finds it used up, and then blocks for a ms at most.
 */
function fewOf(layout: Layout, seqMask: number | undefined) {
  const bits = layout.fields.find(([name]) => name === 'counter')?.[1] ?? 0
  const perTick = seqMask === undefined ? 2 ** bits : seqMask + 1
  return layout.tickMs > SHORT_TICK_MS ? 1 : Math.max(1, Math.floor(perTick / layout.tickMs / 2))
}

/** The layout as JSON, which `new Layout()` takes, and where it ends. */
const specOf = (layout: Layout) => ({
  ...layout.toJSON(),
  ...dated('end', layout.end),
  ...dated('signedEnd', layout.signedEnd),
})
