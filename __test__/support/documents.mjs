// The promises of a document: its code blocks, and the outputs shown for them. documents.test.mjs runs docs/,
// lab/consumers/readme follows the README.

/** The code blocks of a text, in order: their language ('' if none is named) and their contents. */
export const blocks = (text) =>
  [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, code]) => ({ language, code }))

/** What each console.log promises: the value at the start of its comment, up to a colon. Undefined: no promise. */
export function promises(code) {
  const lines = code.split('\n').filter((line) => line.startsWith('console.log('))
  return lines.map((line) => /\/\/ ((?:-?\d|0x|true|false|<).*?)(?:: .*)?$/.exec(line)?.[1])
}

/** The exact text; or the text before ` …`, followed by more. */
export const agrees = (promised, printed) =>
  promised.endsWith(' …') ? printed.startsWith(promised.slice(0, -1)) : printed === promised

/** An output without the parts that differ from run to run: dates, and numbers in any base. */
export const shape = (output) =>
  output
    .trimEnd()
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'DATE')
    .replaceAll(/\b(?:0x)?[\da-f]+n?\b/g, '#')
    .replaceAll(/ +/g, ' ')
