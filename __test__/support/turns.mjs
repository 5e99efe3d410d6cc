// Work of which only so much is done at once. ava starts all tests of a file together, and some take several processes, or
// a store's first answer, which a busy machine then gives too late.

/** `inTurn(work)` calls `work` when the one `atOnce` calls before it has ended, and resolves with what it does. */
export function turns(atOnce) {
  let queue = Array.from({ length: atOnce }, () => Promise.resolve())
  return (work) => {
    const [free, ...others] = queue
    const done = free.then(work)
    queue = [...others, done.catch(() => {})]
    return done
  }
}
