// Builds all SQL for PostgreSQL. A session's search_path, which others may have set or filled, decides what an unqualified name
// means: a function, a type, a table, and an operator too. So statements name the schema of everything, and a text that came
// from outside becomes part of one only as a literal or an identifier.

/** SQL that this file has built: no other object has its private field. Clients get nothing else. */
export class Sql {
  #text

  constructor(text: string) {
    this.#text = text
  }

  get text() {
    return this.#text
  }

  toString() {
    return this.#text
  }
}

/** What a template may contain besides its own words. A string has to become a literal or an identifier first. */
type Part = Sql | number | bigint

/** SQL with other SQL in it: sql`SELECT ${literal(name)}`. */
export const sql = (words: TemplateStringsArray, ...parts: Part[]) => new Sql(String.raw(words, ...parts))

export const joined = (parts: readonly Sql[], between = sql``) => new Sql(parts.join(between.text))

/** A name as it is, whatever its letters. */
export const identifier = (name: string) => new Sql(`"${name.replaceAll('"', '""')}"`)

/** The name of something in a schema. */
export const named = (schema: string, name: string) => sql`${identifier(schema)}.${identifier(name)}`

/** A text constant. Its meaning does not depend on standard_conforming_strings. */
export function literal(text: string) {
  const quoted = `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`
  return new Sql(text.includes('\\') ? `E${quoted}` : quoted)
}

/** A comment in its signs, which must not end earlier. */
export function commented(text: string) {
  if (/^\/\*(?:(?!\*\/|\/\*).)*\*\/$/s.test(text)) return new Sql(text)
  throw new Error('not one comment')
}

/** The rest of a line after `--`, which must not end earlier. */
export function oneLine(text: string) {
  if (/[\n\r]/.test(text)) throw new Error('a comment of several lines')
  return new Sql(text)
}

/** A text constant without escapes, for code: between tags that end nowhere else. */
export function dollarQuoted({ text }: Sql) {
  for (let n = 1; ; n++) {
    const tag = n === 1 ? '$flakeforge$' : `$flakeforge${n}$`
    if (`${text}${tag}`.indexOf(tag) === text.length) return new Sql(`${tag}${text}${tag}`)
  }
}

/**
 * Operators. They have one precedence in this form, so sums need parentheses. IN, BETWEEN, LIKE, NULLIF, IS DISTINCT FROM and
 * `CASE value WHEN` look up their operators in the search_path, so statements do without them.
 */
const operator = (name: string) => new Sql(`OPERATOR(pg_catalog.${name})`)
export const EQUALS = operator('=')
export const DIFFERS = operator('<>')
export const TIMES = operator('*')
export const MINUS = operator('-')
export const JOINED_TO = operator('||')

/**
 * A block that pins the search_path to pg_catalog before anything else, for the rest of it, and runs as one statement: it is
 * done as a whole or not at all, by any client. Types of variables are found before that, so they need a schema.
 */
export const block = (variables: Sql, body: Sql) => sql`DO ${dollarQuoted(sql`
DECLARE
  path_before CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
${variables}
BEGIN
  PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
${body}
  PERFORM set_config('search_path', path_before, true);
END
`)};
`
