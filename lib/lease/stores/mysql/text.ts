// How statements are written so that they mean the same in every session: a user's pooled connection may have any mode,
// character set, time zone or limit, and we must not change them for the user. So each statement brings its own settings
// for as long as it runs, and its values are bytes in hexadecimal, which no client and no character set changes.

/** @param introducer the character set of texts, where another one is possible */
const settings = (introducer: string) => [
  `sql_mode = ${introducer}'STRICT_ALL_TABLES'`,
  `time_zone = ${introducer}'+00:00'`,
  'sql_select_limit = 18446744073709551615',
]

/** MariaDB's way, before a statement; MySQL takes it for a comment. `timestamp = 0` lets a clock go on that was stopped. */
export const SETTINGS = `/*M!100100 SET STATEMENT ${settings('_ascii').join(', ')}, timestamp = 0 FOR */`

/** MySQL's way, after the first word of a statement; MariaDB takes it for a comment. */
export const HINTS = `/*+ ${settings('')
  .map((setting) => `SET_VAR(${setting})`)
  .join(' ')} */`

/** A literal with the UTF-8 of this text. */
export const bytes = (text: string) => `X'${Buffer.from(text, 'utf8').toString('hex')}'`
