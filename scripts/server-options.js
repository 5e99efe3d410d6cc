'use strict'

// Writes the table of options in docs/service/server.md from packages/server/lib/config/options.ts: `node
// scripts/server-options.js` after a change there. A test compares the two.

const fs = require('node:fs')
const path = require('node:path')
const { OPTIONS, keyOf, variableOf } = require('../target/rooms/packages/server/lib/config/options.js')

const GUIDE = path.join(__dirname, '..', 'docs', 'service', 'server.md')
const PLACE = /(<!-- options -->\n).*?(<!-- \/options -->)/s

/** @param {string} name */
function row(name) {
  const { value, about, absent, onlyCommand } = OPTIONS[name]
  const text = about.replaceAll('|', '\\|') + (absent === undefined ? '' : ` (default: ${absent})`)
  const key = onlyCommand ? '' : `\`${keyOf(name)}\``
  return `| \`--${name} ${value}\` | \`${variableOf(name)}\` | ${key} | ${text} |`
}

/** The guide's text with the expected table. */
function withTable(text) {
  const head = '| option | variable | key | |\n|---|---|---|---|'
  return text.replace(
    PLACE,
    (_, begin, end) => `${begin}\n${[head, ...Object.keys(OPTIONS).map(row)].join('\n')}\n\n${end}`,
  )
}

module.exports = { GUIDE, withTable }

if (require.main === module) fs.writeFileSync(GUIDE, withTable(fs.readFileSync(GUIDE, 'utf8')))
