'use strict'
// @ts-check

// The options of all commands, each written once.

/** @import { Layout } from '../../index.d.ts' */

const native = require('../../lib/native/index.js')
const { layouts } = require('../../index.js')
const { COLUMNS } = require('./columns.js')
const { factsOf } = require('./layout-facts.js')
const { FORMS: TEXT_FORMS } = require('./text-forms.js')

/**
 * @typedef {object} Option
 * @property {string} about what it is for
 * @property {string} [value] what follows it; a switch has none
 * @property {string} [short] its name after a single dash
 * @property {() => string[]} [among] its possible values, if they are few
 * @property {'file' | 'store'} [completes] if its value is one
 * @property {string} [api] its name in errors of the library, if that differs
 */

/** @typedef {Record<string, Option>} Options by name */

/** @type {string[]} */
const FORMS = [...native.bases(), 'json']

/** @satisfies {Options} */
const OF_LAYOUT = {
  layout: {
    value: 'NAME',
    about: 'a system of `flakeforge layouts` (default flake), or fields of your own as JSON: \'{"fields": …}\'',
    among: () => Object.keys(layouts),
  },
  epoch: { value: 'DATE', about: 'the instant that timestamps count from: ISO text or Unix ms' },
  nodes: { value: 'N', about: 'snowcast: how many nodes there can be' },
  mode: { value: 'MODE', about: 'uniqueid: spread or sequential', among: () => ['spread', 'sequential'] },
  'id-offset': { value: 'N', about: 'a number that is added to every ID', api: 'idOffset' },
}

/** @satisfies {Options} */
const NODE_OFFSET = {
  'node-offset': { value: 'N', about: 'a number that is added to node numbers', api: 'nodeOffset' },
}

/** @satisfies {Options} */
const GROUP = { group: { value: 'NAME', about: "the group of slots (default 'default')" } }

/**
 * What all members of a group have to agree on, besides the layout.
 * @satisfies {Options}
 */
const OF_GROUP = {
  slots: { value: 'N', about: 'how many slots the group has (default: as many as the layout has free node numbers)' },
  ttl: { value: 'MS', about: 'on a server: for how long a slot is granted at a time (default 30000)', api: 'ttlMs' },
  skew: { value: 'MS', about: 'on a server: how far clocks may be apart (default 5000)', api: 'skewMs' },
  durable: { about: 'vouch that the server never loses what it acknowledged, so a new group needs no wait' },
}

/** @satisfies {Options} */
const COLUMN = {
  column: {
    value: 'FORM',
    about: `print the WHERE for a column of this form: ${COLUMNS.join(', ')}`,
    among: () => COLUMNS,
  },
}

/** @satisfies {Options} */
const OF_NEW = {
  n: { value: 'N', short: 'n', about: 'how many IDs: the same as N alone' },
  as: { value: 'FORM', about: `one ID a line, as one of ${FORMS.join(', ')}`, among: () => FORMS },
  id: { value: 'N', about: "the whole node number, or 'ordinal' for the number at the end of the host name" },
  shared: {
    value: 'FILE',
    about: 'take the numbers from this file, which all processes of a machine can share',
    completes: 'file',
  },
  store: {
    value: 'DIR|URL',
    about:
      "take a free slot of this folder or server, for as long as the command runs (default $FLAKEFORGE_STORE, else the user's own folder)",
    completes: 'store',
  },
  wait: { value: 'MS', about: 'how long to wait for a free slot (default 90000)', api: 'waitMs' },
}

/** @satisfies {Options} */
const OF_INSPECT = {
  from: {
    value: 'FORM',
    about: `the form that the IDs have: ${TEXT_FORMS.join(', ')} (default: the one that fits)`,
    among: () => TEXT_FORMS,
  },
}

/** @satisfies {Options} */
const YES = { yes: { about: 'do it: without this nothing happens' } }

/**
 * The options that every command has.
 * @satisfies {Options}
 */
const COMMON = {
  json: { about: 'print JSON, one object a line' },
  help: { short: 'h', about: 'print this help' },
}

/**
 * The node fields of a layout as options.
 * @param {Layout} layout
 * @returns {Options}
 */
function nodeFields(layout) {
  /** @param {string} name */
  const about = (name) => `the node number's field ${name} in layout ${layout.name}`
  return Object.fromEntries(factsOf(layout).nodeNames.map((name) => [name, { value: 'N', about: about(name) }]))
}

/** @type {Options} */
const NAMED = { ...OF_LAYOUT, ...NODE_OFFSET, ...GROUP, ...OF_GROUP, ...OF_NEW, ...OF_INSPECT, ...COLUMN }

/**
 * The name of an option in errors of the library.
 * @param {string} name
 */
const apiName = (name) => (Object.hasOwn(NAMED, name) ? NAMED[name].api : undefined) ?? name

module.exports = {
  COLUMN,
  COMMON,
  FORMS,
  GROUP,
  NODE_OFFSET,
  OF_GROUP,
  OF_INSPECT,
  OF_LAYOUT,
  OF_NEW,
  YES,
  apiName,
  nodeFields,
}
