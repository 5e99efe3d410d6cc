// The slots of a group as clients read them. A group may have a million: the store is read, and each page is written, at most
// once a second, however many ask.

import type { SlotInfo } from 'flakeforge/lease'
import { Recent } from '../recent.ts'

/** How many slot numbers a page covers. */
export const PAGE = 1000

const FRESH_MS = 1000

export class SlotPages {
  #facts
  #own
  #read

  /** @param own the slot that is held here */
  constructor(
    facts: { name: string; group: string },
    list: () => Promise<readonly SlotInfo[]>,
    own: () => number | undefined,
  ) {
    this.#facts = facts
    this.#own = own
    this.#read = new Recent(FRESH_MS, async () => ({ slots: pagesOf(await list()), texts: new Map<number, Buffer>() }))
  }

  /** The page that begins with this slot, as JSON. Answers that wait to be read share its bytes. */
  async from(first: number) {
    const { slots, texts } = await this.#read.get()
    const known = texts.get(first)
    if (known !== undefined) return known
    const next = [...slots.keys()].find((each) => each > first)
    const page = { ...this.#facts, slots: (slots.get(first) ?? []).map((slot) => slotOf(slot, this.#own())), next }
    const text = Buffer.from(JSON.stringify(page))
    if (slots.has(first)) texts.set(first, text)
    return text
  }
}

/** By the first slot of their page, in ascending order. */
function pagesOf(slots: readonly SlotInfo[]) {
  const pages: Map<number, SlotInfo[]> = new Map()
  for (const slot of [...slots].sort((a, b) => a.slot - b.slot)) {
    const first = slot.slot - (slot.slot % PAGE)
    const page = pages.get(first)
    if (page === undefined) pages.set(first, [slot])
    else page.push(slot)
  }
  return pages
}

function slotOf({ slot, owner, host, lo, hi, pid }: SlotInfo, own: number | undefined) {
  // A folder knows the process that holds a slot; a server knows a window.
  const held = owner !== undefined && (pid !== undefined || hi >= Date.now())
  return {
    slot,
    ...(host !== undefined && { host }),
    lo,
    hi,
    held,
    mine: held && slot === own,
    ...(pid === undefined && { expires: new Date(hi).toISOString() }),
  }
}
