// Dates in answers, as RFC 3339 writes them and OpenAPI's format date-time requires: with years from 0 to 9999. Some layouts
// reach further.

const isWritable = (date: Date) => date.getUTCFullYear() >= 0 && date.getUTCFullYear() <= 9999

/** The date as a property; none if RFC 3339 cannot write it. */
export const dated = (name: string, date: Date) => (isWritable(date) ? { [name]: date.toISOString() } : {})
