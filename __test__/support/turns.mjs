// Limits how much work is done at once. ava starts all tests of a file together, and some take several processes, or a
// store's first answer, which would then be too late on a busy machine.

/** `inTurn(work)` calls `work` once fewer than `atOnce` others run, and resolves with its result. */
export function turns(atOnce) {
  let running = 0
  const waiting = []
  return async (work) => {
    if (running < atOnce) running++
    else await new Promise((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      if (waiting.length > 0) waiting.shift()()
      else running--
    }
  }
}

/** `test`, or one that skips, with at most this many tests at once. */
export function testInTurn(test, atOnce) {
  const inTurn = turns(atOnce)
  return (title, body) => test(title, (t) => inTurn(() => body(t)))
}
