// What stores remember from step to step. Stores of one address share it: when many stores of a process search for a free
// slot, each slot of a large group is read once, not once for each store. An address is forgotten with its last store.

import native from '../native/index.ts'

/** The memory for steps, and a function to call when this store makes no more of them. */
export type Memory = { core: InstanceType<typeof native.StoreMemory>; close: () => void }

const memories: Map<string, { core: Memory['core']; stores: number }> = new Map()

/**
 * The memory of a store.
 * @param address without it, the store gets a separate memory
 */
export function memoryOf(address?: string): Memory {
  if (address === undefined) return { core: new native.StoreMemory(), close: () => {} }
  const shared = memories.get(address) ?? { core: new native.StoreMemory(), stores: 0 }
  memories.set(address, shared)
  shared.stores += 1
  let isOpen = true
  const close = () => {
    if (!isOpen) return
    isOpen = false
    shared.stores -= 1
    if (shared.stores === 0) memories.delete(address)
  }
  return { core: shared.core, close }
}
