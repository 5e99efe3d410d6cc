// Makes structuredClone() and postMessage() of an object an error. The clone would have no methods, and a program would notice
// this only at its first call. A clone has the own enumerable properties, and a function cannot be cloned. A base class that
// cannot be cloned makes each call 100 times slower on Node.js 20, and util.markAsUncloneable() came with 22.10.

/** What the DataCloneError shows. */
const ONE_THREAD = () => 'flakeforge: this object stays in its thread. Make another one there.'

/** Called by constructors, last. */
export function keepHere(made: object) {
  ;(made as { uncloneable?: unknown }).uncloneable = ONE_THREAD
}
