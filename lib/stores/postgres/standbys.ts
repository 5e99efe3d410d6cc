// What synchronous_standby_names says: which standbys a commit waits for. A standby that is listed and not waited for can
// confirm the commits of an old primary after another one was promoted.

import { printable } from '../../base/printable.ts'

/** `names` in lower case, as PostgreSQL compares them; '*' is any standby, in quotes too. `waitsFor`: how many of them. */
export interface Standbys {
  names: string[]
  waitsFor: number
}

/** A quoted name, in which "" is a quote; a name, a number or *; or punctuation. See src/backend/replication/syncrep_scanner.l. */
const TOKEN = /"(?:[^"]|"")*"|[^\s"(),]+|[(),]/g

const unquoted = (token: string) =>
  (token.startsWith('"') ? token.slice(1, -1).replaceAll('""', '"') : token).toLowerCase()

/** The setting of a running server, which has checked it: `b, c`, `2 (b, c, d)`, `FIRST 2 (…)` or `ANY 2 (…)`. */
export function standbysIn(setting: string): Standbys {
  const tokens: string[] = setting.match(TOKEN) ?? []
  const open = tokens.indexOf('(')
  const names = tokens.slice(open + 1).filter((token) => !['(', ')', ','].includes(token))
  const waitsFor = open < 0 ? Math.min(names.length, 1) : Number(tokens[open - 1])
  return { names: [...new Set(names.map(unquoted))], waitsFor }
}

const ONE_NAME = 'synchronous_standby_names = the one standby to promote'

/** The settings that would make an old primary unlikely, and that a server with standbys lacks. */
export function missingOf(setting: string): string[] {
  const { names, waitsFor } = standbysIn(setting)
  const is = `it is '${printable(setting)}'`
  if (names.length === 0) return [`${ONE_NAME} (it is empty, so commits wait for none)`]
  if (names.includes('*')) return [`${ONE_NAME} (${is}, which any standby satisfies)`]
  if (names.length > waitsFor) {
    return [`${ONE_NAME} (${is}: ${names.length} are listed, and a commit waits for ${waitsFor})`]
  }
  return []
}
