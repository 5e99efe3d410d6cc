// Makes structuredClone() and postMessage() of an object fail. The clone would have no methods, and a program would notice
// only at its first call. A clone copies the own enumerable properties, and a function cannot be cloned. A base class that
// cannot be cloned makes each call 100 times slower on Node.js 20, and util.markAsUncloneable() came with 22.10.

/** The DataCloneError shows this text. */
const ONE_THREAD = () => 'flakeforge: this object cannot leave its thread. Create another one there.'

/** Constructors call it last. */
export function keepHere(made: object) {
  ;(made as { uncloneable?: unknown }).uncloneable = ONE_THREAD
}
