// Finds the text of the ID in each line: the whole line, a column of delimited text (CSV, COPY's tabs, psql's bars), or a key
// of JSON lines. Quoted CSV fields may extend over several lines (RFC 4180).

import { LONGEST } from './lines.ts'
import { unreadable } from './unreadable.ts'

const DELIMITERS = ['\t', ',', ';', '|']

/** The text of an ID, or what is wrong with the line; neither if the line holds none, as a header. */
export interface Field {
  line: number
  text?: string
  fault?: string
}

type Read = (line: string) => Omit<Field, 'line'>

const LINE_ALONE: Read = (line) => ({ text: line })

/** JSON.parse rounds numbers above 2^53, so numbers become texts first. The strings among them are matched to skip them. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:E[+-]?\d+)?/gi
const exact = (json: string) => json.replace(STRING_OR_NUMBER, (found) => (found[0] === '"' ? found : `"${found}"`))

/** @param key of the ID in each object */
function jsonReader(key: string): Read {
  return (line) => {
    let object: Record<string, unknown> | null
    try {
      object = JSON.parse(exact(line.trim().replace(/,$/, '')))
    } catch (error) {
      return { fault: `it is not valid JSON: ${(error as Error).message}` }
    }
    if (typeof object !== 'object' || object === null || !Object.hasOwn(object, key))
      return { fault: `it has no key '${key}'` }
    const value = object[key]
    if (value === null) return { text: '' }
    return typeof value === 'string' ? { text: value } : { fault: `its '${key}' is not a text or a number` }
  }
}

/** The end of a quoted field that begins at `start`; -1 if the record continues on the next line. */
function endOfQuoted(record: string, start: number) {
  let at = start + 1
  for (;;) {
    const quote = record.indexOf('"', at)
    if (quote < 0) return -1
    if (record[quote + 1] !== '"') return quote + 1
    at = quote + 2
  }
}

/** The fields of a record; undefined if its last one continues on the next line. */
export function fieldsOf(record: string, delimiter: string) {
  if (delimiter === '\t' || !record.includes('"')) return record.split(delimiter) // COPY's text has no quotes
  const fields: string[] = []
  for (let start = 0; start <= record.length; ) {
    const isQuoted = record[start] === '"'
    const from = isQuoted ? endOfQuoted(record, start) : start
    if (from < 0) return undefined
    const next = record.indexOf(delimiter, from)
    const end = next < 0 ? record.length : next
    const field = record.slice(start, end)
    fields.push(isQuoted ? field.trim().slice(1, -1).replaceAll('""', '"') : field)
    start = end + 1
  }
  return fields
}

/** The place of a column, from 0, by its number from 1 or its name in the header. */
function placeOf(column: string, header: string[]) {
  if (/^[1-9]\d*$/.test(column)) return Number(column) - 1
  const names = header.map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
  const place = names.indexOf(column)
  if (place >= 0) return place
  throw unreadable(`its first line has no column '${column}'. Its columns are ${names.join(', ')}.`)
}

/** Reads the ID's field of each line. */
export class FieldReader {
  #column
  #read: Read | undefined
  #delimiter = ''
  #place = 0
  #open = '' // the beginning of a record that continues on the next line
  #openLine = 0
  #isHeader = false

  /** @param column its number, its name, or a key of JSON; undefined for the whole line */
  constructor(column: string | undefined) {
    this.#column = column
    if (column === undefined) this.#read = LINE_ALONE
  }

  /** The field of a line; undefined while its record is not complete. */
  read(text: string, line: number): Field | undefined {
    if (this.#read === LINE_ALONE) return { line, text }
    const record = this.#open === '' ? text : `${this.#open}\n${text}`
    if (record.trim() === '') return { line, text: '' }
    this.#read ??= this.#readerFor(record)
    if (this.#delimiter !== '' && fieldsOf(record, this.#delimiter) === undefined) return this.#hold(record, line)
    const first = this.#open === '' ? line : this.#openLine
    this.#open = ''
    if (!this.#isHeader) return { line: first, ...this.#read(record) }
    this.#isHeader = false
    return { line: first }
  }

  /** The field that the end of the input cuts off, if any. */
  end(): Field | undefined {
    if (this.#open === '') return undefined
    return { line: this.#openLine, fault: 'a quote that begins here does not end, so no line after it was read' }
  }

  #hold(record: string, line: number) {
    if (this.#open === '') this.#openLine = line
    this.#open = record
    if (record.length > LONGEST)
      throw unreadable(`a quote that begins in line ${this.#openLine} does not end within ${LONGEST} characters.`)
    return undefined
  }

  /** The reader for records like this first one. */
  #readerFor(record: string): Read {
    const column = this.#column as string
    if (record.trim().startsWith('{')) return jsonReader(column)
    this.#delimiter = DELIMITERS.find((delimiter) => record.includes(delimiter)) ?? ','
    this.#place = placeOf(column, fieldsOf(record, this.#delimiter) ?? [])
    this.#isHeader = !/^\d+$/.test(column)
    return (row) => {
      const fields = fieldsOf(row, this.#delimiter) as string[]
      const text = fields[this.#place]
      return text === undefined ? { fault: `it has ${fields.length} columns, and not ${this.#place + 1}` } : { text }
    }
  }
}

/** Whether a line that is not an ID has several columns, so that one of them has to be named. */
export const hasColumns = (line: string) => DELIMITERS.some((one) => line.includes(one)) || line.trim().startsWith('{')
