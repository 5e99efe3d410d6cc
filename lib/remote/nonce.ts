// The header by which a request and its answer know each other. An answer with another nonce, or with none, was made for
// another request, and its IDs belong to that one.

export const NONCE = 'flakeforge-nonce'

const BYTES = 16

/** 128 random bits. Runtimes without `crypto`, such as React Native, have Math.random(). */
export function newNonce() {
  const bytes = new Uint8Array(BYTES)
  if (globalThis.crypto?.getRandomValues === undefined) bytes.forEach((_, i) => (bytes[i] = Math.random() * 256))
  else globalThis.crypto.getRandomValues(bytes)
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
