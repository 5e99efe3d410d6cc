// Reads the IDs of an input. Lines that hold no ID are counted, and the first ones that should hold one are kept with the
// reason. Decimal IDs, the usual case, skip the search for their form.

import { printable, withoutSecretsIn } from '../../lib/base/printable.ts'
import type { Layout } from '../../lib/entries/codec.ts'
import { LOST, readId } from '../../lib/reading/text-forms.ts'
import type { Fault } from '../parts/faults.ts'
import { halves, readDecimal } from './decimal.ts'
import { type Field, FieldReader, hasColumns } from './fields.ts'
import { IdList } from './id-list.ts'
import { linesOf, open } from './lines.ts'
import { unreadable } from './unreadable.ts'

/** How to read the lines. */
export interface How {
  file?: string
  column?: string
  /** the form of the IDs */
  from?: string
  layout?: Layout
}

export interface Malformed {
  line: number
  why: string
}

const SHOWN = 1000 // malformed lines that are kept
const NULLS = ['', '\\N', 'NULL', 'null', 'None', 'nil']
/** psql's and mysql's lines around a table. */
const DECORATION = /^(?:[-+|]*-[-+|]*|\(\d+ rows?\)|\d+ rows? in set.*)$/
const HEADER = /^["'`[]?[A-Za-z_][\w .-]*["'`\]]?$/

/** Digits that a spreadsheet keeps. */
const EXACT_DIGITS = 15

export class Input {
  ids = new IdList()
  lines = 0
  /** without an ID: empty, NULL, or a line around a table */
  empty = 0
  headers = 0
  malformed: Malformed[] = []
  malformedCount = 0
  /** in a spreadsheet's notation, such as 1.5E+18 */
  exponents = 0
  /** decimal IDs whose digits after the 15th are 0, and how many to expect by chance */
  zeroTails = 0
  expectedZeroTails = 0

  #how
  #hasSeenText = false

  constructor(how: How) {
    this.#how = how
  }

  /** Reads it all. */
  async read() {
    const { file, column } = this.#how
    const fields = new FieldReader(column)
    for await (const lines of linesOf(open(file))) {
      for (const line of lines) {
        this.lines++
        const field = fields.read(line, this.lines)
        if (field !== undefined) this.#take(field)
      }
    }
    const rest = fields.end()
    if (rest !== undefined) this.#take(rest)
    return this
  }

  #take({ line, text, fault }: Field) {
    if (fault !== undefined) return this.#refuse(line, fault)
    if (text === undefined) {
      this.headers++
      return
    }
    const { from } = this.#how
    const isDecimal = from === undefined || from === 'dec'
    const digits = text.endsWith('\r') ? text.slice(0, -1) : text
    if (!isDecimal || !readDecimal(digits)) return this.#takeOther(digits.trim(), line)
    this.#hasSeenText = true
    this.ids.push(halves.high, halves.low, line)
    this.#countTail(digits)
  }

  /** IDs are often multiples of a power of two, so chance is 1 in 5 for each digit, and not 1 in 10. */
  #countTail(digits: string) {
    const tail = digits.length - EXACT_DIGITS
    if (tail < 2) return
    this.expectedZeroTails += 5 ** -tail
    if (digits.endsWith('0'.repeat(tail))) this.zeroTails++
  }

  #takeOther(text: string, line: number) {
    if (NULLS.includes(text) || DECORATION.test(text)) {
      this.empty++
      return
    }
    const { from, layout } = this.#how
    try {
      const { id, form } = readId(text, from, layout)
      this.#hasSeenText = true
      this.ids.push(Number(id >> 32n), Number(id & 0xffffffffn), line)
      if (form === 'dec') this.#countTail(text.replace(/\D/g, ''))
    } catch (cause) {
      const error = cause as Fault
      if (error.code !== 'ERR_FLAKE_ID') throw error
      this.#takeNoId(text, line, error.message)
    }
  }

  #takeNoId(text: string, line: number, message: string) {
    const isFirst = !this.#hasSeenText
    this.#hasSeenText = true
    if (isFirst && this.#how.column === undefined && hasColumns(text))
      throw unreadable(
        `line ${line} has several columns. Name the column of the ID with --column: its number, its name or its key.`,
      )
    if (isFirst && HEADER.test(text)) this.headers++
    else this.#refuse(line, message)
  }

  #refuse(line: number, message: string) {
    if (message.includes(LOST)) this.exponents++
    this.malformedCount++
    if (this.malformed.length < SHOWN) this.malformed.push({ line, why: printable(withoutSecretsIn(message)) })
  }
}
