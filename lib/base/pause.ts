// Blocks this thread for a while without using the processor. It is for places where no callback could wait instead.

let cell: Int32Array | undefined

/** No thread wakes the cell, so the wait ends with its time. */
export function pause(ms: number) {
  cell ??= new Int32Array(new SharedArrayBuffer(4))
  Atomics.wait(cell, 0, 0, ms)
}
