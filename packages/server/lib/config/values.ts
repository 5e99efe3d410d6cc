// Checks the value of one option from any source. Values are not coerced: port '80a' is not port 80.

import { show } from '../../../shared.ts'
import { ConfigError } from './config-error.ts'
import { OPTIONS } from './options.ts'

/**
 * @param value as given: text, or any JSON value
 * @param where such as '--port' or 'PORT'
 */
export function readValue(name: string, value: unknown, where: string) {
  const { type } = OPTIONS[name]
  if (type === 'number') return readNumber(name, value, where)
  if (type === 'texts') return readTexts(name, value, where)
  return readText(name, value, where)
}

function readNumber(name: string, value: unknown, where: string) {
  const [min, max] = OPTIONS[name].range as [number, number]
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return number
  throw new ConfigError(`${where} must be an integer from ${min} to ${max}, not ${show(value)}.`)
}

function readText(name: string, value: unknown, where: string) {
  const { among } = OPTIONS[name]
  if (typeof value !== 'string' || value === '' || value.includes('\0'))
    throw new ConfigError(`${where} must be a text, not ${show(value)}.`)
  if (among !== undefined && !among.includes(value)) {
    throw new ConfigError(`${where} must be one of ${among.join(', ')}, not ${show(value)}.`)
  }
  return value
}

/** Several texts: an array, or one text with commas. */
function readTexts(name: string, value: unknown, where: string) {
  const texts = typeof value === 'string' ? value.split(',').map((text) => text.trim()) : value
  const isList =
    Array.isArray(texts) && texts.length > 0 && texts.every((text) => typeof text === 'string' && text !== '')
  if (!isList) throw new ConfigError(`${where} must be one or more texts, not ${show(value)}.`)
  const { each } = OPTIONS[name]
  const bad = each && texts.find((text: string) => !each.isGood(text))
  if (bad !== undefined) throw new ConfigError(`${where} must be ${each?.wanted}, not ${show(bad)}.`)
  return texts as string[]
}

export { show }
