'use strict'

// The options of a generator, validated here and nowhere else: native code takes what this file gives it.
// Nothing is masked or coerced, because a worker 32 that became 0 would be somebody else's worker 0.

const { isDate } = require('node:util').types
const { Layout } = require('./layout.js')
const { optionTypeError, optionRangeError, unknownOptionError } = require('./errors.js')

const GENERAL = ['id', 'epoch', 'seqMask', 'layout', 'maxAheadMs', 'maxWaitMs', 'clock']
const FARTHEST = 8.64e15 // ms; what a Date can hold, in either direction

/** Made once, because a service may make a generator for each request. */
const FLAKE = new Layout('flake')

const isAbsent = (value) => value === undefined || value === null

/** A checked copy of the options of `new FlakeId(options)`. */
function readOptions(given) {
  const options = isAbsent(given) ? {} : given
  if (typeof options !== 'object' || Array.isArray(options)) throw optionTypeError('options', options, 'an object')
  const clock = readClock(options.clock)
  const layout = readLayout(options.layout, readEpoch(options.epoch, clock))
  checkKeys(options, layout)
  return {
    layout,
    ...readNode(options, layout),
    seqMask: readSeqMask(options.seqMask, widthOf(layout, 'counter')),
    maxAheadMs: readDuration('maxAheadMs', options.maxAheadMs),
    maxWaitMs: readDuration('maxWaitMs', options.maxWaitMs),
    clock,
  }
}

function checkKeys(options, layout) {
  const known = [...Layout.nodeNames(layout), ...GENERAL]
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) throw unknownOptionError(key, options[key], known)
  }
}

function readLayout(name, epoch) {
  if (isAbsent(name) || name === 'flake') return epoch === undefined ? FLAKE : new Layout('flake', epoch)
  throw optionRangeError('layout', name, "'flake'")
}

function readClock(clock) {
  if (isAbsent(clock)) return undefined
  if (typeof clock !== 'function')
    throw optionTypeError('clock', clock, 'a function that returns Unix ms, or Unix ns as a bigint')
  return clock
}

function readEpoch(epoch, clock) {
  if (isAbsent(epoch)) return undefined
  const ms = isDate(epoch) ? epoch.getTime() : readInteger('epoch', epoch, 'Unix ms or a Date')
  if (Number.isNaN(ms)) throw optionRangeError('epoch', epoch, 'a valid Date')
  if (Math.abs(ms) > FARTHEST) throw optionRangeError('epoch', epoch, `within ±${FARTHEST} ms of 1970, as a Date is`)
  // With an own clock the present is what that clock says, and it is not asked before the first ID.
  if (clock === undefined && ms > Date.now())
    throw optionRangeError('epoch', epoch, `in the past, and now is ${Date.now()}`)
  return ms
}

/** The node number: `id`, or the node fields by name, or 0. */
function readNode(options, layout) {
  const names = Layout.nodeNames(layout)
  const named = names.find((name) => !isAbsent(options[name]))
  if (isAbsent(options.id)) {
    const values = names.map((name) => readField(name, options[name], widthOf(layout, name)))
    return {
      node: Layout.native(layout).joinNode(values),
      nodes: Object.fromEntries(names.map((name, i) => [name, values[i]])),
    }
  }
  if (named !== undefined)
    throw optionRangeError(named, options[named], `left out where id (${options.id}) names the whole node`)
  const width = names.reduce((sum, name) => sum + widthOf(layout, name), 0)
  return { node: readField('id', options.id, width), nodes: {} }
}

function widthOf(layout, name) {
  return layout.fields.find((field) => field[0] === name)?.[1] ?? 0
}

function readField(option, value, width) {
  if (isAbsent(value)) return 0
  return readBounded(option, value, 0, 2 ** width - 1)
}

function readSeqMask(value, width) {
  const max = 2 ** width - 1
  if (isAbsent(value)) return max
  const mask = readBounded('seqMask', value, 1, max)
  if (!Number.isInteger(Math.log2(mask + 1)))
    throw optionRangeError('seqMask', value, `one less than a power of two: 1, 3, 7 … ${max}`)
  return mask
}

function readDuration(option, value) {
  if (isAbsent(value)) return 0
  const ms = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof ms !== 'number') throw optionTypeError(option, value, 'a number of ms')
  if (!(ms >= 0)) throw optionRangeError(option, value, '0 ms or more')
  return ms
}

function readBounded(option, value, min, max) {
  const number = readInteger(option, value, `an integer from ${min} to ${max}`)
  if (number < min || number > max) throw optionRangeError(option, value, `an integer from ${min} to ${max}`)
  return number
}

/** An integer, or decimal text of one, as environment variables give it. */
function readInteger(option, value, wanted) {
  if (typeof value !== 'number' && typeof value !== 'string') throw optionTypeError(option, value, wanted)
  const number = typeof value === 'string' && !/^-?\d+$/.test(value) ? Number.NaN : Number(value)
  if (!Number.isSafeInteger(number)) throw optionRangeError(option, value, wanted)
  return number + 0 // −0 is 0
}

/** How many IDs a batch makes: `take(n)`. */
function readCount(n) {
  if (typeof n !== 'number') throw optionTypeError('n', n, 'the number of IDs to make')
  return readBounded('n', n, 0, MOST)
}

/** IDs in the largest batch: their bytes fill the largest Buffer. */
const MOST = Math.floor(require('node:buffer').constants.MAX_LENGTH / 8)

module.exports = { readOptions, readCount }
