// The header by which a request and its answer know each other. An answer with another nonce, or with none, was made for
// another request, and its IDs belong to that one.

export const NONCE = 'flakeforge-nonce'

const BYTES = 16

/** 128 random bits. */
export function newNonce() {
  return Array.from(randomBytes(), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Runtimes without `crypto`, such as React Native, have Math.random(). */
function randomBytes() {
  const bytes = new Uint8Array(BYTES)
  if (typeof globalThis.crypto?.getRandomValues === 'function') return globalThis.crypto.getRandomValues(bytes)
  return bytes.map(() => Math.random() * 256)
}
