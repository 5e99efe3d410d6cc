'use strict'
// @ts-check

// Who may ask: bearer tokens, in the header only. A comparison takes the same time whatever is sent: both sides are hashed,
// and every token is compared. No token is ever logged or answered.

const { createHash, timingSafeEqual } = require('node:crypto')
const { Problem } = require('./problems.js')

/** @param {string} token */
const hash = (token) => createHash('sha256').update(token).digest()

class Tokens {
  /** @type {Buffer[]} */
  #hashes = []

  /** @param {readonly string[]} tokens */
  constructor(tokens) {
    this.replace(tokens)
  }

  /** @param {readonly string[]} tokens */
  replace(tokens) {
    this.#hashes = tokens.map(hash)
  }

  /**
   * Throws unless the request has one of the tokens.
   * @param {string | undefined} authorization the header
   */
  check(authorization) {
    if (tokenIn(authorization) === undefined) throw missing()
    if (!this.allow(authorization)) throw wrong()
  }

  /**
   * Whether a request has one of the tokens.
   * @param {string | undefined} authorization the header
   */
  allow(authorization) {
    const token = tokenIn(authorization)
    return token !== undefined && this.#has(hash(token))
  }

  /** @param {Buffer} given */
  #has(given) {
    let found = false
    for (const known of this.#hashes) found = timingSafeEqual(known, given) || found
    return found
  }
}

/** @param {string | undefined} authorization */
const tokenIn = (authorization) => /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]

const missing = () =>
  new Problem(401, 'ERR_FLAKE_TOKEN', "This server wants a token in the header 'Authorization: Bearer …'.", {
    headers: { 'www-authenticate': 'Bearer' },
  })

const wrong = () =>
  new Problem(401, 'ERR_FLAKE_TOKEN', 'The server does not know this token. It may have been replaced.', {
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  })

exports.Tokens = Tokens
