// The fault that a check found: what was seen, what was wanted, and the remedy. All errors of a user's store become one.

export class Finding extends Error {
  seen
  wanted
  todo

  constructor(seen: string, wanted: string, todo: string) {
    super(seen)
    this.seen = seen
    this.wanted = wanted
    this.todo = todo
  }

  /** Any error as a finding. */
  static of(error: Error) {
    if (error instanceof Finding) return error
    return new Finding(error.message, 'a valid answer to every call', 'correct the named function')
  }
}

/** Text in a line of the report: short, and without line breaks. */
export function show(value: unknown) {
  if (typeof value !== 'string') return String(value)
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 40)}… (${value.length} characters)` : text
}
