'use strict'

// What is measured: for each piece of work, what one call is, for us and for the others. Each runs in a process of
// its own, which loads only what it measures.

const flakeforge = () => new (require('..'))({ id: 5 })
const flakeIdgen = () => new (require('flake-idgen'))({ id: 5 })
const pure = () => new (require('./pure.js').PureFlake)({ id: 5 })

/** One ID by flake-idgen, to be formatted. */
const anId = () => flakeIdgen().next()

/** Calls: `make()` returns the function to be called; a burst is short enough not to use up a millisecond. */
const CALLS = {
  'next: flakeforge': () => {
    const generator = flakeforge()
    return () => generator.next()
  },
  'next: flake-idgen': () => {
    const generator = flakeIdgen()
    return () => generator.next()
  },
  'next: plain JS': () => {
    const generator = pure()
    return () => generator.next()
  },
  'next: @sapphire/snowflake': () => {
    const generator = new (require('@sapphire/snowflake').Snowflake)(0)
    return () => generator.generate()
  },
  'next: snowflake-uuid': () => {
    const generator = new (require('snowflake-uuid').Worker)(0, 1)
    return () => generator.nextId()
  },
  'next: bson ObjectId': () => {
    const { ObjectId } = require('bson')
    return () => new ObjectId()
  },
  'next: hyperid': () => require('hyperid')(),
  'next: uuid v7': () => require('uuid').v7,
  'next: crypto.randomUUID': () => require('node:crypto').randomUUID,
  'Date.now': () => Date.now,
  'nextBigInt: flakeforge': () => {
    const generator = flakeforge()
    return () => generator.nextBigInt()
  },
  'nextString: flakeforge': () => {
    const generator = flakeforge()
    return () => generator.nextString()
  },
  'nextString: flake-idgen': () => {
    const generator = flakeIdgen()
    const format = require('biguint-format')
    return () => format(generator.next(), 'dec')
  },
  'format: flakeforge': () => {
    const { format } = require('..')
    const id = anId()
    return () => format(id, 'dec')
  },
  'format: biguint-format': () => {
    const format = require('biguint-format')
    const id = anId()
    return () => format(id, 'dec')
  },
}

module.exports = { CALLS, flakeforge, flakeIdgen }
