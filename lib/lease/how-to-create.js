'use strict'

// The command that makes a group with the options of a join(), for the warning that says how to avoid the wait for a
// new group.
//
// It must never show a password. The command must make the very group that join() asks for: it leaves out only what
// `flakeforge create` would choose itself.

const { isAbsent } = require('../base/check.js')
const { readJoinOptions } = require('./join-options.js')
const { withoutPassword } = require('./stores/without-password.js')

/** A word of a command, quoted for a shell. */
const quote = (word) => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** The store's address. If it has a password that is in no environment variable, the reader has to put it in. */
function storeOf(store) {
  const isInVariable = isAbsent(store) || store === process.env.FLAKEFORGE_STORE
  return isInVariable ? '"$FLAKEFORGE_STORE"' : quote(withoutPassword(store))
}

/** `--name value` for each option that is given. */
const flags = (values) =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${name} ${quote(String(value))}`)

function layoutFlags({ name: layout, fields, spec, tickMs, choices }) {
  const { epoch, nodes, mode, idOffset } = choices
  const own = JSON.stringify({ name: layout, tickMs, fields })
  const name = spec.spec === undefined ? layout : own
  return flags({ layout: name === 'flake' ? undefined : name, epoch, nodes, mode, 'id-offset': idOffset })
}

/** Those that `flakeforge create` would not choose itself. */
function groupFlags({ facts, fixed, nodeOffset, config }) {
  const usual = readJoinOptions({ layout: facts.layout, ...fixed, nodeOffset }).config
  const own = (name) => (config[name] === usual[name] ? undefined : config[name])
  const durable = config.durable ? ['--durable'] : []
  return [...flags({ slots: own('slots'), ttl: own('ttlMs'), skew: own('skewMs') }), ...durable]
}

/**
 * The command that makes the group with these options before anybody joins.
 * @param store what join() got: an address, nothing, or an object, which only a program can use
 * @param options as join-options.js gives them
 */
function createCommand(store, options) {
  if (!isAbsent(store) && typeof store !== 'string') return 'await createGroup(store, options) once, as join() has them'
  const { group, facts, fixed, nodeOffset } = options
  const words = [storeOf(store), quote(group), ...layoutFlags(facts), ...flags(fixed)]
  return `npx flakeforge create ${[...words, ...flags({ 'node-offset': nodeOffset }), ...groupFlags(options)].join(' ')}`
}

module.exports = { createCommand }
