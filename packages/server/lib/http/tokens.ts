// Bearer tokens, in the header only. A comparison takes the same time for every input: both sides are hashed, and every token
// is compared. Tokens are neither logged nor answered.

import { createHash, timingSafeEqual } from 'node:crypto'
import { Problem } from './problems.ts'

const hash = (token: string) => createHash('sha256').update(token).digest()

export class Tokens {
  #hashes: Buffer[] = []

  constructor(tokens: readonly string[]) {
    this.replace(tokens)
  }

  replace(tokens: readonly string[]) {
    this.#hashes = tokens.map(hash)
  }

  /**
   * Throws unless the request has one of the tokens.
   * @param authorization the header
   */
  check(authorization: string | undefined) {
    if (tokenIn(authorization) === undefined) throw missing()
    if (!this.allow(authorization)) throw wrong()
  }

  /**
   * Whether a request has one of the tokens.
   * @param authorization the header
   */
  allow(authorization: string | undefined) {
    const token = tokenIn(authorization)
    return token !== undefined && this.#has(hash(token))
  }

  #has(given: Buffer) {
    let found = false
    for (const known of this.#hashes) found = timingSafeEqual(known, given) || found
    return found
  }
}

const tokenIn = (authorization: string | undefined) => /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]

const missing = () =>
  new Problem(401, 'ERR_FLAKE_TOKEN', "This server requires a token in the header 'Authorization: Bearer …'.", {
    headers: { 'www-authenticate': 'Bearer' },
  })

const wrong = () =>
  new Problem(401, 'ERR_FLAKE_TOKEN', 'This token is unknown. It may have been replaced.', {
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  })
