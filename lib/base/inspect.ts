// What console.log and util.inspect show of our objects: the class and useful properties, because they cannot see private
// fields. It uses the symbol's registered name, so that node:util need not be loaded.

export const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/**
 * The text for an object that should look like `shown`.
 * @param shown properties without a value are left out
 * @param how the arguments of a method named INSPECT
 */
export function textOf(
  object: object,
  shown: object,
  [depth, options, inspect]: [depth: number | null, options: object, inspect: Function],
) {
  const { name } = object.constructor
  if (typeof depth === 'number' && depth < 0) return `[${name}]`
  const present = Object.entries(shown).filter(([, value]) => value !== undefined)
  return `${name} ${inspect(Object.fromEntries(present), { ...options, depth })}`
}
