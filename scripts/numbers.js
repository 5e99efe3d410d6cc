'use strict'

// Writes the numbers in the prose of documents as English has them: 4,096 instead of 4 096, 5% instead of 5 %, and a no-break
// space between a number and its unit. `node scripts/numbers.js` changes README, docs/ and the pages of examples/; a test
// compares. Code, outputs, links and tables that another program writes stay as they are.

const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')

/**
 * What is no prose: blocks of code and output, headings, whose anchors are made of plain spaces, tables between marks, comments,
 * code in a line, targets of links, and tags.
 */
const OTHER =
  /^ *```.*?^ *```$|^#+ [^\n]*$|<!-- (\w[\w ]*) -->\n.*?<!-- \/\1 -->|<!--.*?-->|(?<!`)(`+)(?!`).*?(?<!`)\2(?!`)|\]\([^)]*\)|https?:\/\/[^\s)]+|<[^>]+>/gms

const UNITS = ['ns', 'µs', 'ms', 's', 'kB', 'KB', 'MB', 'GB', 'TB']

const inProse = (text) =>
  text
    .replaceAll(/(?<![\d.,])\d{1,3}(?:[ \u00a0]\d{3})+(?![\d])/g, (number) => number.replaceAll(/[ \u00a0]/g, ','))
    .replaceAll(/(?<=\d)[ \u00a0]%/g, '%')
    .replaceAll(new RegExp(`(?<=\\d) (?=(?:${UNITS.join('|')})\\b)`, 'g'), '\u00a0')

/** @param {string} text a document */
function withNumbers(text) {
  let [result, end] = ['', 0]
  for (const { index, 0: other } of text.matchAll(OTHER)) {
    result += inProse(text.slice(end, index)) + other
    end = index + other.length
  }
  return result + inProse(text.slice(end))
}

/** The documents for users. */
const DOCUMENTS = ['docs', 'examples']
  .flatMap((folder) =>
    fs.readdirSync(path.join(root, folder), { recursive: true }).map((name) => path.join(folder, name)),
  )
  .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
  .concat(['README.md', 'CHANGELOG.md'])
  .map((name) => path.join(root, name))

module.exports = { DOCUMENTS, withNumbers }

if (require.main === module)
  for (const file of DOCUMENTS) {
    const text = fs.readFileSync(file, 'utf8')
    if (withNumbers(text) !== text) fs.writeFileSync(file, withNumbers(text))
  }
