// Whether a library's value is the stored ID, to the last digit. An ID is never converted to a number here.

import { toBigInt } from 'flakeforge'

/** The library answered, and the answer is wrong. */
export class Inexact extends Error {}

const show = (value) =>
  typeof value === 'string' ? `'${value}'` : typeof value === 'bigint' ? `${value}n` : String(value)

/** The 64 bits of a library's value: text, a bigint or bytes. For a number, the bits that it has. */
function bitsOf(value) {
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt.asUintN(64, BigInt(value))
  if (typeof value === 'bigint') return BigInt.asUintN(64, value)
  if (value instanceof Uint8Array && value.length === 8) return toBigInt(value)
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value)
}

/** `what` is the place of the ID: 'id', 'orders[0].customerId'. */
export function expectId(value, id, what = 'id') {
  const isNumber = typeof value === 'number' && !Number.isSafeInteger(value)
  if (!isNumber && bitsOf(value) === BigInt.asUintN(64, id)) return
  const place = what === 'id' ? '' : `${what}: `
  const looksSame = typeof value === 'number' && String(value) === String(id)
  throw new Inexact(`${place}${id} is returned as ${looksSame ? 'the number ' : ''}${show(value)}`)
}

/** Text and other values that are not IDs: which row it is. */
export function expectSame(value, wanted, what) {
  if (value !== wanted) throw new Inexact(`${what} is ${show(wanted)}, it returned ${show(value)}`)
}

export function expectRow(row, wanted, what = 'the row') {
  if (row === null || row === undefined) throw new Inexact(`${what} of ${show(wanted.id)} was not found`)
  expectSame(row.name, wanted.name, `the name at ${show(wanted.id)}`)
  expectId(row.id, wanted.id)
}

export function expectRows(rows, wanted, what) {
  if (rows.length !== wanted.length) throw new Inexact(`${what} has ${wanted.length} rows, it returned ${rows.length}`)
  for (const [i, row] of rows.entries()) expectRow(row, wanted[i])
}

/** The IDs that the library's default has requested. Rows that were stored without it silently have others. */
export function expectGiven(given, n) {
  if (given.length !== n) throw new Inexact(`the default generated ${given.length} IDs for ${n} rows`)
  return given
}
