'use strict'
// @ts-check

// The command that makes a group with the options of a join(), for the warning that says how to avoid the wait for a
// new group.
//
// It must never show a password. The command must make the very group that join() asks for: it leaves out only what
// `flakeforge create` would choose itself.

const { isAbsent } = require('../base/check.js')
const { layoutOf } = require('../codec/layout.js')
const { readJoinOptions } = require('./join-options.js')
const { withoutPassword } = require('./stores/address.js')

/**
 * @import { JoinOptions } from './join-options.js'
 */

/**
 * A word of a command, quoted for a shell.
 * @param {string} word
 */
const quote = (word) => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/**
 * The store's address. If it has a password that is in no environment variable, the reader has to put it in.
 * @param {string | null | undefined} store
 */
function storeOf(store) {
  if (isAbsent(store) || store === process.env.FLAKEFORGE_STORE) return '"$FLAKEFORGE_STORE"'
  return quote(withoutPassword(store))
}

/**
 * `--name value` for each option that is given.
 * @param {Record<string, unknown>} values
 */
const flags = (values) =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${name} ${quote(String(value))}`)

/** @param {JoinOptions['facts']} facts */
function layoutFlags({ name: layout, spec, fields, tickMs, choices }) {
  const { epoch, nodes, mode, idOffset } = choices
  const own = JSON.stringify({ name: layout, tickMs, fields })
  const name = spec.fields ? own : layout
  return flags({ layout: name === 'flake' ? undefined : name, epoch, nodes, mode, 'id-offset': idOffset })
}

/**
 * Those that `flakeforge create` would not choose itself.
 * @param {JoinOptions} options
 */
function groupFlags({ facts, fixed, nodeOffset, config }) {
  const usual = readJoinOptions({ layout: layoutOf(facts), ...fixed, nodeOffset }).config
  const own = (/** @type {'slots' | 'ttlMs' | 'skewMs'} */ name) =>
    config[name] === usual[name] ? undefined : config[name]
  const durable = config.durable ? ['--durable'] : []
  return [...flags({ slots: own('slots'), ttl: own('ttlMs'), skew: own('skewMs') }), ...durable]
}

/**
 * The command that makes the group with these options before anybody joins.
 * @param {unknown} store what join() got: an address, nothing, or an object, which only a program can use
 * @param {JoinOptions} options
 */
function howToCreate(store, options) {
  if (!isAbsent(store) && typeof store !== 'string') return 'await createGroup(store, options) once, as join() has them'
  const { group, facts, fixed, nodeOffset } = options
  const words = [storeOf(store), quote(group), ...layoutFlags(facts), ...flags(fixed)]
  return `npx flakeforge create ${[...words, ...flags({ 'node-offset': nodeOffset }), ...groupFlags(options)].join(' ')}`
}

module.exports = { howToCreate }
