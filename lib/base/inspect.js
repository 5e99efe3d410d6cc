'use strict'
// @ts-check

// How console.log and util.inspect show our objects: the class and useful properties, because they cannot see private
// fields. It uses the symbol's registered name, so that node:util need not be loaded.

const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/**
 * The text for an object that should look like `shown`.
 * @param {object} object
 * @param {object} shown properties without a value are left out
 * @param {[depth: number | null, options: object, inspect: Function]} how the arguments of a method named INSPECT
 */
function textOf(object, shown, [depth, options, inspect]) {
  const { name } = object.constructor
  if (typeof depth === 'number' && depth < 0) return `[${name}]`
  const present = Object.entries(shown).filter(([, value]) => value !== undefined)
  return `${name} ${inspect(Object.fromEntries(present), { ...options, depth })}`
}

module.exports = { INSPECT, textOf }
