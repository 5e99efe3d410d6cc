'use strict'

// Writes the tables of errors and warnings in docs/ from lib/base/errors/codes.ts: `npm run dist && node scripts/errors.js`
// after a change there. A test compares them.

const fs = require('node:fs')
const path = require('node:path')
const { CODES, FIXES, WARNINGS } = require('../target/rooms/lib/base/errors/codes.js')

const docs = (...names) => path.join(__dirname, '..', 'docs', ...names)

/** What a client of the server does about a status. */
const ADVICE = [
  { statuses: [400], advice: 'correct the request' },
  { statuses: [401], advice: 'send a token in `Authorization: Bearer …`' },
  { statuses: [403], advice: "allow the page with `--cors`, or the server's other name with `--allow-host`" },
  { statuses: [404, 405, 406], advice: 'correct the request' },
  { statuses: [408, 413, 415, 417, 431], advice: 'correct the client' },
  { statuses: [429], advice: 'request more IDs at once, or wait for `Retry-After`' },
  {
    statuses: [503],
    advice: 'ask another server, or retry this one after `Retry-After`; the body has `retryAfterMs`',
  },
  { statuses: [500], advice: 'report it' },
]

/** Without an answer: the client has gone. */
const UNSEEN = [499]

const inCode = (names) => names.map((name) => `\`${name}\``).join(', ')

function errors() {
  const rows = Object.entries(CODES)
    .filter(([, { when }]) => when !== undefined)
    .map(([code, { when, more }]) => `| \`${code}\` | ${when} | ${inCode(more)} |`)
  return ['| code | when | more |', '|---|---|---|', ...rows]
}

function warnings() {
  const rows = Object.entries(WARNINGS).map(([code, when]) => `| \`${code}\` | ${when} |`)
  return ['| code | when |', '|---|---|', ...rows]
}

/** What to do about codes, each with a link to the page that says when it appears. */
function fixes(codes) {
  const rows = codes.map((code) => `| [\`${code}\`](reference/errors.md) | ${FIXES[code]} |`)
  return ['| code | what to do |', '|---|---|', ...rows]
}

const isWarning = (code) => code in WARNINGS

function answers() {
  const known = [...ADVICE.flatMap(({ statuses }) => statuses), ...UNSEEN]
  const missing = Object.values(CODES).flatMap(({ status = [] }) => status.filter((each) => !known.includes(each)))
  if (missing.length > 0) throw new Error(`scripts/errors.js has no advice for status ${missing.join(', ')}`)
  const rows = ADVICE.map(({ statuses, advice }) => {
    const codes = Object.keys(CODES).filter((code) => CODES[code].status?.some((each) => statuses.includes(each)))
    return `| ${statuses.join(', ')} | ${inCode(codes)} | ${advice} |`
  })
  return ['| status | `code` | what to do |', '|---|---|---|', ...rows]
}

const TABLES = [
  { file: docs('reference', 'errors.md'), name: 'errors', lines: errors },
  { file: docs('reference', 'errors.md'), name: 'warnings', lines: warnings },
  {
    file: docs('troubleshooting.md'),
    name: 'fixes of errors',
    lines: () => fixes(Object.keys(FIXES).filter((code) => !isWarning(code))),
  },
  {
    file: docs('troubleshooting.md'),
    name: 'fixes of warnings',
    lines: () => fixes(Object.keys(FIXES).filter(isWarning)),
  },
  { file: docs('service', 'server.md'), name: 'answers', lines: answers },
]

/** A page with its tables as they should be. */
function withTables(file, text) {
  return TABLES.filter((table) => table.file === file).reduce((page, { name, lines }) => {
    const place = new RegExp(`(<!-- ${name} -->\\n).*?(<!-- /${name} -->)`, 's')
    if (!place.test(page)) throw new Error(`${file} has no place for the table of ${name}`)
    return page.replace(place, (_, begin, end) => `${begin}\n${lines().join('\n')}\n\n${end}`)
  }, text)
}

const PAGES = [...new Set(TABLES.map(({ file }) => file))]

module.exports = { PAGES, withTables }

if (require.main === module)
  for (const file of PAGES) fs.writeFileSync(file, withTables(file, fs.readFileSync(file, 'utf8')))
