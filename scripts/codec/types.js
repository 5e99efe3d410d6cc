'use strict'

// The types of the dialects, for lib/codec/node-fields.ts: their node fields, and the table that editors show.

const NOT_NODES = ['timestamp', 'counter', 'zero', 'mode']

/** 0…65,535 */
const upTo = (max) => `0…${String(max).replace(/\B(?=(?:\d{3})+$)/g, ',')}`

/** Each node field and its largest value; a field in two pieces is one. */
function nodeFields({ fields, host }) {
  if (host) return [[host, 99]]
  const bits = {}
  for (const [name, width] of fields) if (!NOT_NODES.includes(name)) bits[name] = (bits[name] ?? 0) + width
  return Object.entries(bits).map(([name, width]) => [name, 2 ** width - 1])
}

/** The node fields of a layout as properties, each with its comment. */
function propertiesOf(row) {
  const note = row.hasNodes ? ', or less than `nodes` rounded up to a power of two' : ''
  return nodeFields(row).map(([name, max]) => `/** ${upTo(max)}${note} */\n${name}: number\n`)
}

const interfaceName = ({ name }) => `${name[0].toUpperCase()}${name.slice(1)}Fields`

/**
 * Two fields need a separate interface: in a literal, the printer of declarations moves the comment of the second one to
 * the end of the first one's line, and editors show it nowhere.
 */
function interfaceOf(row) {
  const properties = propertiesOf(row)
  return properties.length > 1 ? `interface ${interfaceName(row)} {\n${properties.join('')}}\n\n` : ''
}

function typeOf(row) {
  const properties = propertiesOf(row)
  const literal = properties.length === 0 ? 'Record<never, never>' : `{\n${properties.join('')}}`
  const type = properties.length > 1 ? interfaceName(row) : literal
  return `${/^\w+$/.test(row.name) ? row.name : `'${row.name}'`}: ${type}\n`
}

/** '1970', or '2010-11-04' if it is not the first day of a year */
const dayOf = (ms) => new Date(ms).toISOString().slice(0, 10).replace('-01-01', '')

/** '100 ns', '10 ms' */
function lengthOf(ns) {
  const [unit, size] = [
    ['ms', 1_000_000],
    ['µs', 1000],
    ['ns', 1],
  ].find(([, size]) => ns % size === 0)
  return `${ns / size} ${unit}`
}

const fieldsOf = ({ fields, host }) =>
  host ? `decimal: the last two digits are the ${host}` : fields.map((field) => field.join(' ')).join(', ')

const line = (cells) => ` * | ${cells.join(' | ')} |`

function tableOf(rows) {
  const cells = rows.map((row) => [
    `\`${row.name}\``,
    dayOf(row.epoch),
    lengthOf(row.tickNs),
    fieldsOf(row),
    row.system,
  ])
  return [['name', 'epoch', 'tick', 'fields (bits)', 'system'], Array(5).fill('---'), ...cells].map(line).join('\n')
}

/**
 * The declarations as text.
 * @param rows of dialects.jsonl
 */
const declarations = (rows) => `
${rows.map(interfaceOf).join('')}/** The node fields of each named layout. Editors show these comments for options and decoded parts. */
export interface NodeFields {
${rows.map(typeOf).join('')}}

/**
 * The layouts of other systems, and \`safe\` for JavaScript numbers. \`npx flakeforge layouts\` prints this table.
 *
${tableOf(rows)}
 */
export type LayoutName = keyof NodeFields
`

module.exports = { declarations }
