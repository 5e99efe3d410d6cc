'use strict'

// How console.log and util.inspect show an object of ours: its class and what it is, instead of private fields that nobody
// sees. By the symbol's registered name, since node:util is not needed for anything else.

const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/**
 * The text for an object that shall look like `shown`.
 * @param {object} object
 * @param {object} shown properties without a value are left out
 * @param {[depth: number | null, options: object, inspect: Function]} how what a method of the name INSPECT is called with
 */
function look(object, shown, [depth, options, inspect]) {
  const { name } = object.constructor
  if (typeof depth === 'number' && depth < 0) return `[${name}]`
  const present = Object.entries(shown).filter(([, value]) => value !== undefined)
  return `${name} ${inspect(Object.fromEntries(present), { ...options, depth })}`
}

module.exports = { INSPECT, look }
