// The nonce of a request, which its answer repeats. A client that sends one knows an answer that was made for another
// request: a cache that repeats it would give IDs out twice.

import { Problem, shown } from './problems.ts'

export const NONCE = 'flakeforge-nonce'
export const PATTERN = '^[A-Za-z0-9_-]{16,64}$'

const GOOD = new RegExp(PATTERN)

/** @param text the header; undefined if the request has none */
export function checkNonce(text: string | undefined) {
  if (text !== undefined && !GOOD.test(text)) throw malformed(text)
}

const malformed = (text: string) =>
  new Problem(
    400,
    'ERR_FLAKE_NONCE',
    `The header ${NONCE} must have 16 to 64 letters, digits, - and _, and is ${shown(text)}. Send one that is random ` +
      'for each request, or none.',
  )
