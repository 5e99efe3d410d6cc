'use strict'
// @ts-check

// Blocks this thread for a while, without using the processor. It must never be used where a callback could wait instead.

/** @type {Int32Array | undefined} */
let cell

/**
 * Nobody ever wakes the cell, so the wait ends with its time.
 * @param {number} ms
 */
function pause(ms) {
  cell ??= new Int32Array(new SharedArrayBuffer(4))
  Atomics.wait(cell, 0, 0, ms)
}

module.exports = { pause }
