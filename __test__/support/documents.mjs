// The promises of a document: its code blocks, and the outputs shown for them. documents.test.mjs runs the JavaScript of docs/,
// outputs.test.mjs the samples of all documents that are followed by an output, lab/consumers/readme follows the README.

import { readdirSync } from 'node:fs'
import path from 'node:path'

const ROOT = path.join(import.meta.dirname, '..', '..')
const OTHERS = ['.git', 'node_modules', 'npm', 'target']
const HISTORY = 'CHANGELOG.md' // it names what was removed

/** The documents of the repository, as paths from its root. */
export function* documentsIn(folder) {
  for (const entry of readdirSync(path.join(ROOT, folder), { withFileTypes: true })) {
    const name = path.posix.join(folder, entry.name)
    if (entry.isDirectory() && !OTHERS.includes(entry.name)) yield* documentsIn(name)
    if (entry.isFile() && name.endsWith('.md') && name !== HISTORY) yield name
  }
}

/** The code blocks of a text, in order: their language ('' if none is named) and their contents. */
export const blocks = (text) =>
  [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, code]) => ({ language, code }))

/** The languages of a block of output. */
const OUTPUT = ['', 'text', 'console']

/**
 * The outputs that a text shows: blocks without a language of code. `of` is the block that prints it, if only empty lines are between
 * them; `notRun` the reason in a comment before it, `<!-- not run: … -->`.
 */
export function outputs(text) {
  const all = [...text.matchAll(/^( *)```(\w*)\n(.*?)^ *```$/gms)]
  return all.flatMap(([whole, , language, code], i) => {
    if (!OUTPUT.includes(language)) return []
    const { index } = all[i]
    const before = all[i - 1]
    const between = text.slice(before === undefined ? 0 : before.index + before[0].length, index)
    const isNext = before !== undefined && between.trim() === '' && !OUTPUT.includes(before[2])
    const notRun = /<!-- not run: ([^>]+) -->\s*$/.exec(between)?.[1]
    const of = isNext ? { language: before[2], code: before[3] } : undefined
    return [{ shown: code, of, notRun, line: text.slice(0, index).split('\n').length, end: index + whole.length }]
  })
}

/** The commands of a text's shell blocks whose output is in the comments after them: `curl …`, then `# {"status":"ok"}`. */
export function commented(text) {
  const shells = [...text.matchAll(/^```(?:sh|bash)\n(.*?)^```$/gms)].map(([, code]) => code)
  const commands = shells.flatMap((code) => [...code.matchAll(/^([^#\n].*)\n((?:# .*\n)+)/gm)])
  return commands.map(([, code, comments]) => ({ code, shown: comments.replaceAll(/^# /gm, '') }))
}

/** The value that a comment begins with; text in words is no value. */
const VALUE = /-?\d|0x|true|false|<|\{"|[A-Z]\w+\(\d+\) /

/** What each console.log promises: the value at the start of its comment, up to a colon. Undefined: no promise. */
export function promises(code) {
  const lines = code.split('\n').filter((line) => line.startsWith('console.log('))
  const promise = new RegExp(`// ((?:${VALUE.source}).*?)(?:: .*)?$`)
  return lines.map((line) => promise.exec(line)?.[1])
}

/** The lines that are an expression with its value in a comment, `isId('12x') // false`, as programs that print the value. */
export function values(code) {
  const lines = code.matchAll(
    /^(?!console|const |let |import |for |\/\/)(.+?) \/\/ ('[^']*'|\d{4}-\S+Z|-?\d+n?|true|false)(?:[;:].*)?$/gm,
  )
  return [...lines].map(([line, expression, value]) => ({
    line,
    program: `console.log(${expression})`,
    value: value.replaceAll("'", ''),
  }))
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
