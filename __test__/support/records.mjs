// The texts of records (core/src/lease/grants/record.rs), for tests that read or change one behind a store's back. A
// text that is changed here has the right checksum, so only its content differs.

import { randomBytes } from 'node:crypto'

/** An owner token as the lease creates it: new for each acquisition. */
export const newOwner = () => randomBytes(16).toString('hex')

/** The name of a slot's record. */
export const slotName = (slot) => `slot${String(slot).padStart(10, '0')}`

/** FNV-1a, 32 bits. */
function checksum(text) {
  let sum = 0x811c9dc5
  for (const byte of Buffer.from(text)) sum = Math.imul(sum ^ byte, 0x01000193)
  return (sum >>> 0).toString(16).padStart(8, '0')
}

/** The fields of a record by name, as texts. */
export const fieldsOf = (text) =>
  Object.fromEntries(
    text
      .split(' ')
      .slice(2)
      .map((field) => [field.slice(0, field.indexOf('=')), field.slice(field.indexOf('=') + 1)]),
  )

/** The record with these fields changed. */
export function edited(text, change) {
  const [body] = text.split(' sum=')
  const changed = body
    .split(' ')
    .map((field) => {
      const name = field.split('=')[0]
      return name in change ? `${name}=${change[name]}` : field
    })
    .join(' ')
  return `${changed} sum=${checksum(changed)}`
}

/** The text of a record of an adapter; null if it is absent. */
export const textOf = async (records, group, name = 'group') => (await records.read(group, [name])).values[0]

/** Swaps any record for this text. */
export async function put(records, group, name, text) {
  const { identity, values } = await records.read(group, [name])
  return records.swap(group, name, values[0], text, identity)
}
