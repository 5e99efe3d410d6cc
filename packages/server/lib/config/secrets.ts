// The files with tokens, certificates and keys. Messages do not show their contents.

import { createSecureContext } from 'node:tls'
import { ConfigError } from './config-error.ts'
import { readText } from './files.ts'
import type { Values } from './sources.ts'

const LEAST = 16

const wayOut = (file: string) => `To make one: (umask 077; openssl rand -hex 32 > ${file})`

/** Files that nobody else may read. */
const SECRET = () => true

/**
 * The tokens in a file. An empty file is an error: it is more likely a mistake than a wish to refuse every client.
 * @param options.mayBeHalfWritten whether the file may be in the middle of a change. Part of a token is a token that is easier
 * to guess, so then the last line must have an end
 */
export function readTokenFile(file: string, { mayBeHalfWritten = false } = {}) {
  const text = readText(file, 'token file', { isSecret: SECRET, hint: wayOut(file) })
  if (mayBeHalfWritten && text !== '' && !text.endsWith('\n'))
    throw new ConfigError(`The last line of the token file ${file} has no line feed, so it may be half written.`)
  const lines = text.split(/\r?\n/)
  const tokens = lines.map((line) => line.replace(/^\uFEFF/, '').trim())
  for (const [i, token] of tokens.entries()) checkToken(token, `${file}, line ${i + 1}`)
  const kept = tokens.filter((token) => token !== '' && !token.startsWith('#'))
  if (kept.length === 0) throw new ConfigError(`The token file ${file} has no token. ${wayOut(file)}`)
  return kept
}

function checkToken(token: string, where: string) {
  if (token === '' || token.startsWith('#')) return
  if (token.length < LEAST)
    throw new ConfigError(`${where}: a token has ${LEAST} characters or more, not ${token.length}.`)
  // The characters that RFC 6750 allows in a header; others could never be sent.
  if (!/^[\w.~+/-]+=*$/.test(token))
    throw new ConfigError(`${where}: a token has letters, digits and -._~+/ only, and = at its end.`)
}

/** Node's options for TLS. */
export type TlsFiles = { cert: string; key: string; ca?: string; requestCert?: true; rejectUnauthorized?: true }

/** The files for TLS; undefined without a certificate. */
export function readTlsFiles({ 'tls-cert': cert, 'tls-key': key, 'tls-ca': ca }: Values): TlsFiles | undefined {
  if (cert === undefined) return undefined
  const clients: Partial<TlsFiles> =
    ca === undefined ? {} : { ca: readText(ca, 'tls-ca'), requestCert: true, rejectUnauthorized: true }
  const options = { cert: readText(cert, 'tls-cert'), key: readText(key, 'tls-key', { isSecret: SECRET }), ...clients }
  try {
    createSecureContext(options)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new ConfigError(`tls-cert, tls-key and tls-ca do not form a valid certificate: ${code ?? message}.`)
  }
  return options
}
