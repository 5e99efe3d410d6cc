// What stores remember from step to step. Those of one address do so together: many of one process that look for a free slot
// then look at each slot of a large group once, not once each. It must forget an address with its last store.

import native from '../../native/index.ts'

/** What steps are made with, and how to say that this store makes no more. */
export type Memory = { core: InstanceType<typeof native.StoreMemory>; close: () => void }

const memories: Map<string, { core: Memory['core']; stores: number }> = new Map()

/**
 * The memory of a store.
 * @param address none: a memory of its own
 */
export function memoryOf(address?: string): Memory {
  if (address === undefined) return { core: new native.StoreMemory(), close: () => {} }
  const shared = memories.get(address) ?? { core: new native.StoreMemory(), stores: 0 }
  memories.set(address, shared)
  shared.stores += 1
  let isOpen = true
  const close = () => {
    if (isOpen) shared.stores -= 1
    isOpen = false
    if (shared.stores === 0) memories.delete(address)
  }
  return { core: shared.core, close }
}
