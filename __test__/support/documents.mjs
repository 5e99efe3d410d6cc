// What a document promises: its code blocks, and the output that it says they have. documents.test.mjs runs docs/,
// lab/consumers/readme follows the README.

/** The code blocks of a text, in order: their language ('' where none is named) and what is in them. */
export const blocks = (text) =>
  [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, code]) => ({ language, code }))

/** What each console.log promises: the value that its comment begins with, up to a colon. Undefined: it promises none. */
export function promises(code) {
  const lines = code.split('\n').filter((line) => line.startsWith('console.log('))
  return lines.map((line) => /\/\/ ((?:-?\d|0x|true|false|<).*?)(?:: .*)?$/.exec(line)?.[1])
}

/** The very text; or what stands before ` …`, and more behind it. */
export const agrees = (promised, printed) =>
  promised.endsWith(' …') ? printed.startsWith(promised.slice(0, -1)) : printed === promised

/** An output without what differs from run to run: dates, and numbers in any base. */
export const shape = (output) =>
  output
    .trimEnd()
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'DATE')
    .replaceAll(/\b(?:0x)?[\da-f]+n?\b/g, '#')
    .replaceAll(/ +/g, ' ')
