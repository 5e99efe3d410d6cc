// Blocks this thread for a while, without using the processor. It must never be used where a callback could wait instead.

let cell: Int32Array | undefined

/** Nobody ever wakes the cell, so the wait ends with its time. */
export function pause(ms: number) {
  cell ??= new Int32Array(new SharedArrayBuffer(4))
  Atomics.wait(cell, 0, 0, ms)
}
