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

/** Where the quoted text that `at` is in ends: after its quote; -1 if it continues on the next line. */
function endOfQuoted(line: string, at: number) {
  for (let from = at; ; ) {
    const quote = line.indexOf('"', from)
    if (quote < 0) return -1
    if (line[quote + 1] !== '"') return quote + 1
    from = quote + 2
  }
}

const unquoted = (field: string) => field.trim().replace(/^"|"$/g, '').replaceAll('""', '"')

/** A record of delimited text, line by line, so that each character is read once, however many lines a quote spans. */
class DelimitedRecord {
  fields: string[] = []
  #delimiter
  #open: string[] = [] // the lines of a quoted field that has not ended
  #length = 0 // of these

  constructor(delimiter: string) {
    this.#delimiter = delimiter
  }

  /** Whether the line completes the record. */
  add(line: string) {
    if (this.#open.length === 0) return this.#split(line, 0)
    const end = endOfQuoted(line, 0)
    if (end >= 0) return this.#close(line, end)
    this.#hold(line)
    return false
  }

  /** The fields of a line from `start` on. */
  #split(line: string, start: number) {
    const hasQuotes = this.#delimiter !== '\t' && line.includes('"', start) // COPY's text has no quotes
    if (!hasQuotes) {
      this.fields.push(...line.slice(start).split(this.#delimiter))
      return true
    }
    if (line[start] !== '"') return this.#take(line, start, start)
    const end = endOfQuoted(line, start + 1)
    if (end >= 0) return this.#take(line, start, end)
    this.#hold(line.slice(start))
    return false
  }

  /** The field from `start` to the first delimiter after `end`, and then the others. */
  #take(line: string, start: number, end: number): boolean {
    let [from, to] = [start, end]
    for (;;) {
      const next = line.indexOf(this.#delimiter, to)
      const field = line.slice(from, next < 0 ? undefined : next)
      this.fields.push(field.startsWith('"') ? unquoted(field) : field)
      if (next < 0) return true
      from = next + 1
      if (line[from] !== '"') to = from
      else {
        to = endOfQuoted(line, from + 1)
        if (to < 0) break
      }
    }
    this.#hold(line.slice(from))
    return false
  }

  #hold(line: string) {
    this.#open.push(line)
    this.#length += line.length + 1
    if (this.#length > LONGEST) throw unreadable(`a quoted field does not end within ${LONGEST} characters.`)
  }

  /** Ends the open field at `end`, after its quote. */
  #close(line: string, end: number) {
    const next = line.indexOf(this.#delimiter, end)
    this.fields.push(unquoted([...this.#open, line.slice(0, next < 0 ? undefined : next)].join('\n')))
    this.#open = []
    return next < 0 || this.#split(line, next + 1)
  }
}

const isNumber = (column: string) => /^[1-9]\d*$/.test(column)

/** The place of a column, from 0, by its number from 1 or its name in the header. */
function placeOf(column: string, header: string[]) {
  if (isNumber(column)) return Number(column) - 1
  const names = header.map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
  const place = names.indexOf(column)
  if (place >= 0) return place
  throw unreadable(`its first line has no column '${column}'. Its columns are ${names.join(', ')}.`)
}

/** Reads the ID's field of each line. */
export class FieldReader {
  #column
  #json: Read | undefined
  #delimiter = ''
  #place = -1
  #record: DelimitedRecord | undefined // one that continues on the next line
  #firstLine = 0

  /** @param column its number, its name, or a key of JSON; undefined for the whole line */
  constructor(column: string | undefined) {
    this.#column = column
  }

  /** The field of a line; undefined while its record is not complete. */
  read(text: string, line: number): Field | undefined {
    if (this.#column === undefined) return { line, text }
    if (this.#record === undefined && text.trim() === '') return { line, text: '' }
    if (this.#json === undefined && this.#delimiter === '') this.#chooseFormat(text, this.#column)
    if (this.#json !== undefined) return { line, ...this.#json(text) }
    if (this.#record === undefined) this.#firstLine = line
    this.#record ??= new DelimitedRecord(this.#delimiter)
    const isComplete = this.#record.add(text.endsWith('\r') ? text.slice(0, -1) : text)
    return isComplete ? this.#fieldOf(this.#record.fields, this.#column) : undefined
  }

  /** The field that the end of the input cuts off, if any. */
  end(): Field | undefined {
    if (this.#record === undefined) return undefined
    return { line: this.#firstLine, fault: 'a quote that begins here does not end, so no line after it was read' }
  }

  #chooseFormat(text: string, column: string) {
    if (text.trim().startsWith('{')) this.#json = jsonReader(column)
    else this.#delimiter = DELIMITERS.find((delimiter) => text.includes(delimiter)) ?? ','
  }

  #fieldOf(fields: string[], column: string): Field {
    const line = this.#firstLine
    this.#record = undefined
    const isFirst = this.#place < 0
    if (isFirst) this.#place = placeOf(column, fields)
    if (isFirst && !isNumber(column)) return { line }
    const text = fields[this.#place]
    return text === undefined
      ? { line, fault: `it has ${fields.length} columns, and not ${this.#place + 1}` }
      : { line, text }
  }
}

/** Whether a line that is not an ID has several columns, so that one of them has to be named. */
export const hasColumns = (line: string) => DELIMITERS.some((one) => line.includes(one)) || line.trim().startsWith('{')
