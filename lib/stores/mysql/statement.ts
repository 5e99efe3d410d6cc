// How statements are written so that they mean the same in every session: a user's pooled connection may have any mode,
// character set, time zone or limit, and we must not change them for the user. So each statement brings its own settings for
// as long as it runs. Every value and name enters a statement here: values are bytes in hexadecimal, which no client and no
// character set changes.

import { BUDGET, secondsOf } from '../time-budget.ts'

/**
 * How long a statement waits for a lock. The server's defaults are 50 s for a row and a day for a table, and a waiting
 * statement blocks all others. Ending a wait for a lock undoes the statement. max_statement_time is unsuitable, because it
 * also ends a commit's wait for a replica, and that commit is then made on this server alone.
 */
export const LOCK_SECONDS: number = secondsOf(BUDGET.LOCK_MS)

/** MySQL warns about a strict mode without the other three, and a write with a warning does not count. */
const MODES = 'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO'

/** @param introducer the character set of texts, where another one is possible */
const settings = (introducer: string) => [
  `sql_mode = ${introducer}'${MODES}'`,
  `time_zone = ${introducer}'+00:00'`,
  'sql_select_limit = 18446744073709551615',
  `lock_wait_timeout = ${LOCK_SECONDS}`,
]

/** MariaDB's form, before a statement; to MySQL it is a comment. `timestamp = 0` restarts a clock that was stopped. */
export const SETTINGS = `/*M!100100 SET STATEMENT ${settings('_ascii').join(', ')}, timestamp = 0, innodb_lock_wait_timeout = ${LOCK_SECONDS} FOR */`

/**
 * MySQL's form, after the first word of a statement. To MariaDB it is a comment, but from version 12 on, each unknown hint is
 * a warning there: see withoutHints().
 */
export const HINTS = `/*+ ${settings('')
  .map((setting) => `SET_VAR(${setting})`)
  .join(' ')} */`

/** The same statement for MariaDB. */
export const withoutHints = (text: string) => text.replaceAll(HINTS, '')

/** A literal with the UTF-8 of this text. */
export const bytes = (text: string) => `X'${Buffer.from(text, 'utf8').toString('hex')}'`

/** A literal for the places where SQL takes no hexadecimal, such as a COMMENT. */
export function literal(text: string): string {
  // Without quotes and backslashes, which escape in some modes only, and without what depends on the character set.
  if (!/^[ -&(-[\]-~]*$/.test(text)) throw new Error(`not a plain text: ${JSON.stringify(text)}`)
  return `'${text}'`
}

/** A name in backticks means the same in every sql_mode. */
export const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``
